"""A condition as literals and a program that says how they are combined."""

from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.fuzzy.degrees import FALSE, Degrees
from shortlist.language.tree import And, Or, Where
from shortlist.matching.conditions import STRICT
from shortlist.matching.index.literals import Literal, compiled
from shortlist.model.subscription import NORMS, Norm, Weights
from shortlist.model.vocabulary import Vocabulary

MIN = NORMS.index("min")
WEIGHTED = len(NORMS)
"""The number of the norm that has weights; the others are numbered as in `NORMS`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Literals in order, and a postfix program over them.

    In `code` a number from 0 on is a literal, -2n is `and` and -(2n + 1) is `or` of the last n
    results. Under a strict norm, a conjunction holds at most where all of its literals do, and
    `is_conjunction` tells that the whole condition is one; under the others it holds at most
    where any literal does.
    """

    literals: tuple[Literal, ...]
    code: tuple[int, ...]
    norm: int
    is_strict: bool
    is_conjunction: bool
    is_graded: bool
    """Whether degrees other than 0 and 1 may come out of crisp values."""
    least: Degrees = FALSE
    """From which degrees on a match counts."""
    weights: tuple[float, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is the least of crisp literals, in any order, and all above 0 counts."""
        crisp = self.is_conjunction and not self.is_graded
        return crisp and self.norm == MIN and self.least == FALSE


def compiled_condition(
    where: Where, vocabulary: Vocabulary, norm: Norm = "min", least: Degrees = FALSE
) -> Condition:
    """The condition of a tree; `least` is the degrees from which on a match counts.

    >>> from shortlist.language.parser import parse_where
    >>> where = parse_where("rent < 900 and (rooms = 2 or rooms = 3)")
    >>> condition = compiled_condition(where, Vocabulary())
    >>> condition.code, condition.is_conjunction, condition.is_graded
    ((0, 1, 2, -5, -4), False, False)
    """
    literals: list[Literal] = []
    code = tuple(_postfix(where, vocabulary, literals))
    strict = norm in STRICT
    graded = not strict or any(literal.grade is not None for literal in literals)
    is_flat = graded or norm != "min"
    return Condition(
        literals=tuple(literals),
        code=code,
        norm=WEIGHTED if isinstance(norm, Weights) else NORMS.index(norm),
        is_strict=strict,
        is_conjunction=strict and _is_conjunction(code, is_flat),
        is_graded=graded,
        least=least,
        weights=norm.weights if isinstance(norm, Weights) else (),
    )


def _is_conjunction(code: tuple[int, ...], is_flat: bool) -> bool:
    """Whether nothing is joined by `or` and, for degrees' sake, no level lies within another."""
    levels = [step for step in code if step < 0]
    return not any(step % 2 for step in levels) and not (is_flat and len(levels) > 1)


def _postfix(where: Where, vocabulary: Vocabulary, literals: list[Literal]) -> Iterator[int]:
    if isinstance(where, And | Or):
        for operand in where.operands:
            yield from _postfix(operand, vocabulary, literals)
        yield -(2 * len(where.operands) + isinstance(where, Or))
    else:
        yield len(literals)
        literals.append(compiled(where, vocabulary))
