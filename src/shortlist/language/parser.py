"""Text to trees. Every error is a `LanguageError` with the column it is about."""

from dataclasses import replace

from shortlist.language.conditions import ConditionReader
from shortlist.language.scores import read_score
from shortlist.language.tree import Degree, Number, Score, Where
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

NO_VOCABULARY = Vocabulary()
SAFE = Limits()

_latest: list[tuple[str, Vocabulary, int, Limits, Where]] = []
"""The condition that was read last, and under what: who takes in a subscription asks for its
condition more than once, in different rooms."""


def parse_where(text: str, vocabulary: Vocabulary = NO_VOCABULARY, limits: Limits = SAFE) -> Where:
    """The condition of a subscription or an advertisement.

    >>> parse_where("not (rent > 5 or city = 'Oslo')").operands[1]
    Comparison(path=('city',), operator='=', value='Oslo', negated=True)
    >>> parse_where("rent > ")
    Traceback (most recent call last):
    shortlist.language.errors.LanguageError: column 7: expected a value (a number, a string in \
single quotes, true, false or time '…') after '>', found the end of the text
    """
    version = vocabulary.version
    for known, meant, *under, where in _latest:
        if known == text and meant is vocabulary and under == [version, limits]:
            return where
    where = ConditionReader(text, vocabulary, limits).read()
    _latest[:] = [(text, vocabulary, version, limits, where)]  # at once: other threads read, too
    return where


def parse_any_where(text: str | None, vocabulary: Vocabulary, limits: Limits) -> Where | None:
    """As `parse_where`; where there is no condition every publication meets it."""
    return None if text is None else parse_where(text, vocabulary, limits)


def parse_any_score(score: str | float | None, limits: Limits = SAFE) -> Score:
    """The score of a subscription; it may be a plain number, and is `possibility` where none is.

    >>> parse_any_score("-rent"), parse_any_score(0.9), parse_any_score(None)
    (Negate(operand=AttributeValue(path=('rent',))), Number(value=0.9), Degree(name='possibility'))
    """
    if score is None:
        return Degree("possibility")
    return read_score(score, limits) if isinstance(score, str) else Number(float(score))


def parse_audience_score(text: str, limits: Limits = SAFE) -> Score:
    """The score of an advertisement, which may ask about the candidate subscription.

    >>> parse_audience_score("subscription.profile.age")
    OfSubscription(name='profile', key='age')
    """
    length = min(limits.expression_length, limits.audience_length)
    return read_score(text, replace(limits, expression_length=length), audience=True)
