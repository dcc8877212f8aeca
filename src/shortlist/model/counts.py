"""Names under which a deployment counts: those that begin alike are counted by what follows."""

from collections.abc import Iterator, Mapping

OTHER_TYPE = "other type: "
"""Values of another type than a predicate's, by attribute."""
SUPPRESSED = "suppressed: "
"""Matches that were not delivered at arrival, by reason."""
REJECTED = "rejected: "
"""Lines that were turned away, by reason."""


def labelled(counts: Mapping[str, int], prefix: str) -> Iterator[tuple[str, int]]:
    """Counts whose names begin so, by the rest of the name.

    >>> [*labelled({"published": 2, "rejected: late": 1}, REJECTED)]
    [('late', 1)]
    """
    for name, count in counts.items():
        if name.startswith(prefix):
            yield name.removeprefix(prefix), count
