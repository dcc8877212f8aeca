"""What was wrong, where, and what was expected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shortlist.model.wording import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a registry or a command.

    >>> print(Problem(file="r.yaml", id="s1", field="where", column=7, message="expected a value"))
    r.yaml: s1: where: column 7: expected a value
    """

    message: str
    file: str | None = None
    id: str | None = None
    field: str | None = None
    column: int | None = None

    def within(self, **place: str) -> "Problem":
        """The same problem, with what an outer reader knows of its place."""
        return replace(self, **place)  # type: ignore[arg-type]

    def __str__(self) -> str:
        column = f"column {self.column}" if self.column is not None else None
        parts = (self.file, self.id, self.field, column, self.message)
        return one_line(": ".join(part for part in parts if part))


class ShortlistError(Exception):
    """Whatever is raised on purpose, for those who call Shortlist, is one."""


class InvalidRegistry(ShortlistError):
    """A registry that cannot be run, with every problem found in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class WrongArgument(ShortlistError, TypeError):
    """An argument of a type that a function does not take."""


class InvalidSettings(ShortlistError, ValueError):
    """Settings that no run can go by; the message has a line for each field that is wrong."""


@dataclass(frozen=True, slots=True)
class Reject:
    """An item that was turned away; the rest goes on."""

    position: int
    reason: str
