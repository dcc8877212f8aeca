"""Errors that point at a column."""


class LanguageError(ValueError):
    """Text that is not of the language: where, and what was expected.

    >>> str(LanguageError("expected a value", column=7))
    'column 7: expected a value'
    """

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")
        self.message = message
        self.column = column
