"""Spans of time where something else may stand in their place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, kept apart from a count of publications or the name of a day."""

    micros: int
