"""Settings of a run, with safe defaults."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from shortlist.model.durations import DurationSetting, duration_micros
from shortlist.model.problem import InvalidSettings
from shortlist.model.wording import shown

Plan = Literal["replicate", "broadcast", "rendezvous"]
"""Where publications meet the subscriptions that they match, in a deployment."""
PlanSetting = Literal["replicate", "broadcast", "rendezvous", "auto"]


# Bits of a degree that takes less than a double.
Bits = Literal[8, 4, 3, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on input, and the precision of degrees.

    What is over a limit is bad input. A limit is asked when something is accepted: a publication, a
    command, a registry file. What was accepted is read and replayed under `for_what_was_read`, so
    that no answer depends on the limits of today.
    """

    # In characters.
    expression_length: int = 65_536
    expression_depth: int = 64
    predicates: int = 1_024
    # Characters of the score of an advertisement, which is computed for every candidate shortlist
    # of every publication: so many over 8,600 candidates take 20 ms.
    audience_length: int = 2_048
    # Different attributes that a subscription, a shortlist or an advertisement mentions: each is a
    # column of every batch, at about 0.1 ms.
    mentions: int = 1_024
    # Policies in a chain: each takes time in every batch, whether anything comes to it or not.
    policies: int = 32
    # Publications that a policy may hold: a `k`, and a `window` or a `period` that is a count. An
    # operator may keep everything, and a service narrows it for strangers.
    held: int = sys.maxsize
    # `k` of the policy `diverse`, which takes k² steps for an arrival that is better than all: of
    # 256 0.4 ms, of 1,000 2 ms.
    diverse_k: int = 256
    # Attributes that one policy `diverse` looks at, each for every publication.
    diverse_attributes: int = 32
    # Characters of an id, a source or a subscriber: every delivery repeats them.
    id_length: int = 512
    # Keys of objects in `data`, at all levels together.
    attributes: int = 1_024
    # Elements of lists in `data`, at all levels together: enough for a few embeddings, too few for
    # small elements that take many times their text in memory.
    elements: int = 16_384
    nesting: int = 32
    payload_bytes: int = 1_048_576
    # None is a double.
    degree_bits: Bits | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{each.name}: expected a whole number of at least 0, found {value!r}"
            for each in fields(self)
            if each.name != "degree_bits"
            and (type(value := getattr(self, each.name)) is not int or value < 0)
        ]
        if self.degree_bits is not None and self.degree_bits not in get_args(Bits):
            problems.append(f"degree_bits: expected 8, 4, 3 or 2, found {self.degree_bits!r}")
        if problems:
            raise InvalidSettings("\n".join(problems))

    def length_problem(self, name: str) -> str | None:
        """Say what is wrong with an id that is too long; None if it is not.

        >>> Limits(id_length=2).length_problem("abc")
        'expected at most 2 characters, found 3'
        """
        if len(name) <= self.id_length:
            return None
        return f"expected at most {self.id_length} characters, found {len(name)}"

    def for_what_was_read(self) -> "Limits":
        """Return limits for what was within some limits once: no size is asked again.

        Degrees stay as coarse as they are, since answers depend on them.

        >>> Limits(predicates=2, degree_bits=4).for_what_was_read() == Limits(
        ...     degree_bits=4).for_what_was_read()
        True
        """
        sizes: dict[str, Any] = {
            each.name: sys.maxsize for each in fields(self) if each.name != "degree_bits"
        }
        return replace(self, **sizes)


# For what a deployment has taken in.
UNLIMITED = Limits().for_what_was_read()

TimeBasis = Literal["arrival", "event"]
"""What the time of an item is: when a log took it, or what the item itself says."""


Advertising = Literal["optional", "required"]
"""Whether a publication needs an advertisement that applies to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Say how a run orders its input and what it turns away.

    A duration is text such as `"10s"` or `"PT40M"`, or a `timedelta`; a bare number other than 0 is
    refused, since it does not say its unit. `lateness` and `ahead` matter to the basis `event`
    alone. Raises `InvalidSettings`, which names every field that is wrong.

    >>> Settings(lateness="10s").lateness_micros
    10000000
    >>> Settings(lateness=10, time="evnt")
    Traceback (most recent call last):
    shortlist.model.problem.InvalidSettings: time: expected 'arrival' or 'event', found 'evnt'
    lateness: expected text such as '10s' or 'PT40M', or a timedelta, found 10
    """

    time: TimeBasis = "event"
    lateness: DurationSetting | None = None
    """How far an item may be behind the largest time before it; None is unlimited."""
    ahead: DurationSetting | None = None
    """How far its time may be after the instant at which a log took it; None is unlimited."""
    dedup: DurationSetting = "24h"
    """How long the id of an accepted publication is remembered."""
    advertised: Advertising = "optional"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        problems = [*self._problems()]
        if problems:
            raise InvalidSettings("\n".join(problems))

    @property
    def lateness_micros(self) -> int | None:
        return None if self.lateness is None else duration_micros(self.lateness)

    @property
    def ahead_micros(self) -> int | None:
        return None if self.ahead is None else duration_micros(self.ahead)

    @property
    def dedup_micros(self) -> int:
        return duration_micros(self.dedup)

    @property
    def asks_the_log(self) -> bool:
        """Whether somebody has to know when a log took each item."""
        return self.time == "arrival" or self.ahead is not None

    def _problems(self) -> Iterator[str]:
        yield from _not_a_choice("time", self.time, TimeBasis)
        durations = {"lateness": self.lateness, "ahead": self.ahead, "dedup": self.dedup}
        for name, duration in durations.items():
            if duration is None and name != "dedup":
                continue
            try:
                duration_micros(duration)
            except ValueError as error:
                yield f"{name}: {error}"
        yield from _not_a_choice("advertised", self.advertised, Advertising)
        limits: object = self.limits
        if not isinstance(limits, Limits):
            yield f"limits: expected Limits(...), found {shown(limits)}"


def _not_a_choice(name: str, value: object, choices: Any) -> Iterator[str]:
    if not (isinstance(value, str) and value in get_args(choices)):
        expected = " or ".join(map(repr, get_args(choices)))
        yield f"{name}: expected {expected}, found {shown(value)}"
