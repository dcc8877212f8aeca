"""Which condition covers which other: exact where it can be, never wrong."""
