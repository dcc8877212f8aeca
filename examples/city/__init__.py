"""A generated city, its readers, and a screen that shows what they were spared."""
