"""An advertisement's score for all candidates of a publication at once, equal to the plain one."""

from functools import reduce

import numpy as np

from shortlist.language.tree import Arithmetic, Call, Negate, OfSubscription, Score
from shortlist.matching.blocks import Floats, Ints
from shortlist.matching.values import Reader
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring import arithmetic
from shortlist.scoring.expression import Subject, Uncomputable, expression
from shortlist.scoring.kernels.arithmetic import change, combine
from shortlist.scoring.templates import ARITHMETIC, FUNCTIONS
from shortlist.selection.bank.traits import Traits
from shortlist.selection.kernels.audience import round_all

Values = Floats | float
"""One for each candidate, or the same for all."""


class Ranking:
    """Evaluates scores for the candidates of one publication: their scores, whom they name."""

    def __init__(
        self, vocabulary: Vocabulary, traits: Traits, read: Reader, scores: Floats, named: Ints
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

    def _values(self, score: Score) -> Values:
        match score:
            case OfSubscription("score"):
                return self._scores
            case OfSubscription():
                return self._traits_of(score)
            case Negate(operand):
                return -self._values(operand)
            case Arithmetic(operator, left, right):
                return self._arithmetic(operator, self._values(left), self._values(right))
            case Call("min" | "max" as function, arguments):
                return reduce(
                    lambda first, second: self._choice(function, first, second),
                    map(self._values, arguments),
                )
            case Call(function, (argument,)):
                return self._call(function, self._values(argument))
        return expression(score, self._vocabulary)(self._subject)

    def _traits_of(self, trait: OfSubscription) -> Floats:
        values = self._traits.of(trait, self._named)
        if trait.name == "profile":
            self._lacks |= np.isnan(values)
        return values

    def _arithmetic(self, operator: str, left: Values, right: Values) -> Values:
        if isinstance(left, float) and isinstance(right, float):
            return arithmetic.BINARY[operator](left, right)
        return self._combined(ARITHMETIC[operator], left, right)

    def _choice(self, function: str, left: Values, right: Values) -> Values:
        if isinstance(left, float) and isinstance(right, float):
            return arithmetic.FUNCTIONS[function]([left, right])
        return self._combined(FUNCTIONS[function], left, right)

    def _call(self, function: str, operand: Values) -> Values:
        if isinstance(operand, float):
            return arithmetic.FUNCTIONS[function]([operand])
        stack = operand.copy().reshape(1, -1)
        change(FUNCTIONS[function], stack, 0, operand.size)
        return stack.ravel()

    def _combined(self, operation: int, left: Values, right: Values) -> Floats:
        stack = np.empty((2, self._scores.size))
        stack[0], stack[1] = left, right
        combine(operation, stack, 0, self._scores.size)
        result: Floats = stack[0]
        return result
