"""What comes in: documents and lines become nouns, or problems that say where and what was expected."""
