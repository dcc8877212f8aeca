"""A whole condition, ready to be judged: predicates' degrees combined under a norm."""

from collections.abc import Callable

from shortlist.fuzzy.degrees import FALSE, TRUE, Degrees, conjunction, disjunction
from shortlist.language.tree import And, Or, Where
from shortlist.matching.predicates import FAILS, HOLDS, Judgement, judge
from shortlist.matching.values import Read
from shortlist.model.rounding import rounded
from shortlist.model.subscription import Norm
from shortlist.model.vocabulary import Vocabulary

Evaluate = Callable[[Read], Judgement]
Meets = Callable[[Read], Degrees]

STRICT = ("min", "product", "lukasiewicz")
"""Under these norms an impossible member decides a conjunction, and a certain one adds nothing."""


def condition(where: Where | None, vocabulary: Vocabulary, norm: Norm = "min") -> Meets:
    """What tells the degrees to which a publication meets a condition, rounded.

    >>> from shortlist.language.parser import parse_where
    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> flat = Publication(id="f", source="s", time=0, position=0, data={"rent": 1400})
    >>> meets = condition(parse_where("rent is around(1300, 200) and rent < 1500"), Vocabulary())
    >>> meets(Values(Vocabulary()).of(flat))
    Degrees(possibility=0.5, necessity=0.5)
    """
    if where is None:
        return lambda read: TRUE
    evaluate = _evaluation(where, vocabulary, norm)

    def meets(read: Read) -> Degrees:
        found = evaluate(read)
        if found is FAILS:
            return FALSE
        if found is HOLDS:
            return TRUE
        possibility, necessity = found.degrees
        return Degrees(rounded(possibility), rounded(necessity))

    return meets


def _evaluation(where: Where, vocabulary: Vocabulary, norm: Norm) -> Evaluate:
    if isinstance(where, And | Or):
        operands = [_evaluation(operand, vocabulary, norm) for operand in where.operands]
        combined = _conjunction if isinstance(where, And) else _disjunction
        return combined(operands, norm)
    path, judged = where.path, judge(where, vocabulary)
    return lambda read: judged(read(path))


def _disjunction(operands: list[Evaluate], norm: Norm) -> Evaluate:
    return lambda read: Judgement(
        disjunction(norm, [operand(read).degrees for operand in operands])
    )


def _conjunction(operands: list[Evaluate], norm: Norm) -> Evaluate:
    strict = norm in STRICT

    def evaluate(read: Read) -> Judgement:
        degrees = []
        for operand in operands:
            found = operand(read)
            if found.disqualifies or (strict and found.degrees.possibility == 0.0):
                return FAILS
            if not (strict and found is HOLDS):
                degrees.append(found.degrees)
        return Judgement(conjunction(norm, degrees)) if degrees else HOLDS

    return evaluate
