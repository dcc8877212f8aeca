"""What a shortlist spares its subscriber."""


def traffic_saved(matched: int, delivered: int) -> float:
    """The share of matches that were not delivered; 0 where nothing matched.

    >>> traffic_saved(matched=1000, delivered=200), traffic_saved(0, 0)
    (0.8, 0.0)
    """
    return 1 - delivered / matched if matched else 0.0
