"""How long whoever stops a deployment waits for what is under way."""

from shortlist.model.problem import ShortlistError

STOP_SECONDS = 60.0


class StillBusy(ShortlistError):
    """Something that is under way does not come to its end.

    >>> print(str(StillBusy("batch 7", 60)).partition(":")[0])
    batch 7 has not come to its end within 60 s, and is given up
    """

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(
            f"{what} has not come to its end within {seconds:g} s, and is given up:"
            " what it has not committed is done again by whoever comes next"
        )
