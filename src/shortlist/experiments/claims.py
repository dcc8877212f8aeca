"""What a paper claims, and whether measures agree with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

Measure = float | list[float] | list[str]
Measures = Mapping[str, Measure]
"""What a run found, by name: numbers, and series of numbers over the points of an axis, whose names
or numbers are a series too."""

ROUNDING = 1e-9


class UnknownMeasure(ValueError):
    """A claim is about something that nobody measured."""


class Verdict(NamedTuple):
    """Whether measures agree with a claim; `gap` is by how much they miss what would."""

    agrees: bool
    found: list[float]
    gap: float


class Claim(BaseModel):
    """A statement of a paper that measures can contradict. Exactly one of the checks is given.

    >>> claim = Claim.model_validate({
    ...     "says": "A half is delivered", "where": "Figure 4.1",
    ...     "of": "delivered", "is": 0.5, "within": 0.1})
    >>> claim.judge({"delivered": 0.45}).agrees
    True
    >>> round(claim.judge({"delivered": 0.3}).gap, 3)
    0.1
    >>> order = Claim.model_validate({
    ...     "says": "More for a larger k", "where": "Figure 11", "of": "by k", "order": "rising"})
    >>> order.judge({"by k": [1, 3, 2]})
    Verdict(agrees=False, found=[1.0, 3.0, 2.0], gap=1.0)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str
    where: str
    """In the paper: a figure, a table, a section."""
    of: str | list[str]
    """The measures that it is about, of which each may be a series."""
    value: Annotated[float | list[float] | None, Field(alias="is")] = None
    within: float | str = 0.0
    """Of `is`: how far off still agrees, a number or a share of it such as "10%"."""
    at_least: Annotated[float | None, Field(alias="at least")] = None
    at_most: Annotated[float | None, Field(alias="at most")] = None
    order: Literal["rising", "falling"] | None = None
    above: str | list[str] | None = None
    """Point by point, as many measures as `of` has."""
    slack: float = 0.0
    """Of `order` and `above`: how far the other way still agrees."""
    because: str | None = None
    """Why measures differ, where they do; shown only then."""

    @model_validator(mode="after")
    def _has_one_check(self) -> Claim:
        checks = (self.value, self.at_least, self.at_most, self.order, self.above)
        if sum(check is not None for check in checks) != 1:
            names = "is, at least, at most, order, above"
            raise ValueError(f"{self.says!r}: expected exactly one of {names}")
        self._leeway(0.0)
        return self

    def judge(self, measures: Measures) -> Verdict:
        found = _numbers(self.of, measures)
        gap = max(self._gaps(found, measures), default=0.0)
        return Verdict(gap <= ROUNDING, found, max(gap, 0.0))

    def _gaps(self, found: Sequence[float], measures: Measures) -> list[float]:
        if self.at_least is not None:
            return [self.at_least - each for each in found]
        if self.at_most is not None:
            return [each - self.at_most for each in found]
        if self.order is not None:
            sign = 1 if self.order == "rising" else -1
            return [sign * (a - b) - self.slack for a, b in pairwise(found)]
        if self.above is not None:
            others = _numbers(self.above, measures)
            return [b - a - self.slack for a, b in zip(found, others, strict=True)]
        expected = self.value if isinstance(self.value, list) else [self.value] * len(found)
        return [
            abs(each - number) - self._leeway(number)
            for each, number in zip(found, expected, strict=True)
            if number is not None
        ]

    def _leeway(self, expected: float) -> float:
        if isinstance(self.within, str):
            return abs(expected) * float(self.within.removesuffix("%")) / 100
        return self.within

    def expectation(self) -> str:
        """The check in words.

        >>> Claim.model_validate({"says": "", "where": "", "of": "x", "at most": 6}).expectation()
        'at most 6'
        """
        if self.at_least is not None:
            return f"at least {shown(self.at_least)}"
        if self.at_most is not None:
            return f"at most {shown(self.at_most)}"
        if self.order is not None:
            return self.order
        if self.above is not None:
            names = self.above if isinstance(self.above, list) else [self.above]
            return f"above {', '.join(names)}"
        value = self.value if isinstance(self.value, list) else [self.value or 0.0]
        leeway = self.within if isinstance(self.within, str) else shown(self.within)
        numbers = ", ".join(map(shown, value))
        return f"{numbers} ± {leeway}" if self.within else numbers


def shown(number: float) -> str:
    """A number as people write it.

    >>> shown(0.123456), shown(1234567.0), shown(3.0)
    ('0.1235', '1,234,567', '3')
    """
    if number == int(number) if abs(number) < 1e15 else False:
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.4g}"


def _numbers(names: str | Sequence[str], measures: Measures) -> list[float]:
    found: list[float] = []
    for name in [names] if isinstance(names, str) else names:
        if name not in measures:
            known = ", ".join(map(repr, measures))
            raise UnknownMeasure(f"there is no measure {name!r}; there are {known}")
        values: Any = measures[name]
        found += map(float, values) if isinstance(values, list) else [float(values)]
    return found
