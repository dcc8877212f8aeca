"""What comes in: documents and lines become nouns, or problems that say what was expected."""
