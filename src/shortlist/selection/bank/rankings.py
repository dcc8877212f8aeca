"""An advertisement's score for all candidates of a publication at once, equal to the plain one."""

from functools import partial, reduce

import numpy as np

from shortlist.language.tree import Arithmetic, Call, Negate, OfSubscription, Score
from shortlist.matching.blocks import Floats, Ints
from shortlist.matching.values import Read
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.expression import Subject, Uncomputable, expression
from shortlist.scoring.kernels.programs import change, combine
from shortlist.scoring.stored import ARITHMETIC, FUNCTIONS
from shortlist.selection.bank.traits import Traits
from shortlist.selection.kernels.audience import round_all


class Ranking:
    """Evaluates scores for the candidates of one publication: their scores, whom they name."""

    def __init__(
        self, vocabulary: Vocabulary, traits: Traits, read: Read, scores: Floats, named: Ints
    ) -> None:
        self._vocabulary = vocabulary
        self._traits = traits
        self._subject = Subject(read)
        self._scores = scores
        self._named = named
        self._lacks = np.zeros(scores.size, np.bool_)

    def rounded(self, score: Score) -> Floats:
        """The rounded values, NaN where there is none."""
        values = np.empty(self._scores.size)
        try:
            values[:] = self._values(score)
        except Uncomputable:
            values[:] = np.nan
        values[self._lacks] = np.nan  # whatever became of it: nan ^ 0 is 1
        round_all(values)
        return values

    def _values(self, score: Score) -> Floats:
        """One for each candidate, also where it is the same for all."""
        match score:
            case OfSubscription("score"):
                return self._scores
            case OfSubscription():
                return self._traits_of(score)
            case Negate(operand):
                return -self._values(operand)
            case Arithmetic(operator, left, right):
                return self._combined(ARITHMETIC[operator], self._values(left), self._values(right))
            case Call("min" | "max" as function, arguments):
                return reduce(
                    partial(self._combined, FUNCTIONS[function]), map(self._values, arguments)
                )
            case Call(function, (argument,)):
                stack = self._values(argument).copy().reshape(1, -1)
                change(FUNCTIONS[function], stack, 0, self._scores.size)
                return stack.ravel()
        return np.full(self._scores.size, expression(score, self._vocabulary)(self._subject))

    def _traits_of(self, trait: OfSubscription) -> Floats:
        values = self._traits.of(trait, self._named)
        if trait.name == "profile":
            self._lacks |= np.isnan(values)
        return values

    def _combined(self, operation: int, left: Floats, right: Floats) -> Floats:
        stack = np.empty((2, self._scores.size))
        stack[0], stack[1] = left, right
        combine(operation, stack, 0, self._scores.size)
        result: Floats = stack[0]
        return result
