"""Text to trees. Every error is a `LanguageError` with the column it is about."""

from shortlist.language.conditions import read_condition
from shortlist.language.scores import read_score
from shortlist.language.tree import Degree, Number, Score, Where
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

NO_VOCABULARY = Vocabulary()
SAFE = Limits()


def parse_where(text: str, vocabulary: Vocabulary = NO_VOCABULARY, limits: Limits = SAFE) -> Where:
    """The condition of a subscription or an advertisement.

    >>> parse_where("not (rent > 5 or city = 'Oslo')").operands[1]
    Comparison(path=('city',), operator='=', value='Oslo', negated=True)
    >>> parse_where("rent > ")
    Traceback (most recent call last):
    shortlist.language.errors.LanguageError: column 7: expected a value (a number, a string in \
single quotes, true, false or time '…') after '>', found the end of the text
    """
    return _latest.read(text, vocabulary, limits)


class _Latest:
    """Reads conditions, and keeps the last one: who takes in a subscription asks for its condition
    more than once, in different rooms."""

    def __init__(self) -> None:
        self._kept: tuple[str, Vocabulary, int, Limits, Where] | None = None

    def read(self, text: str, vocabulary: Vocabulary, limits: Limits) -> Where:
        kept = self._kept  # as a whole, since other threads read, too
        if kept is not None and kept[0] == text and kept[1] is vocabulary:
            _, _, version, limited, where = kept
            if version == vocabulary.version and limited == limits:
                return where
        where = read_condition(text, vocabulary, limits)
        self._kept = text, vocabulary, vocabulary.version, limits, where
        return where


_latest = _Latest()


def parse_any_where(text: str | None, vocabulary: Vocabulary, limits: Limits) -> Where | None:
    """As `parse_where`; where there is no condition every publication meets it."""
    return None if text is None else parse_where(text, vocabulary, limits)


def parse_score(text: str, limits: Limits = SAFE) -> Score:
    """The score of a subscription.

    >>> parse_score("-rent")
    Negate(operand=AttributeValue(path=('rent',)))
    """
    return read_score(text, limits)


def parse_any_score(score: str | float | None, limits: Limits = SAFE) -> Score:
    """As `parse_score`, but also a plain number, and `possibility` where there is none.

    >>> parse_any_score(0.9), parse_any_score(None)
    (Number(value=0.9), Degree(name='possibility'))
    """
    if score is None:
        return Degree("possibility")
    return parse_score(score, limits) if isinstance(score, str) else Number(float(score))


def parse_audience_score(text: str, limits: Limits = SAFE) -> Score:
    """The score of an advertisement, which may ask about the candidate subscription.

    >>> parse_audience_score("subscription.profile.age")
    OfSubscription(name='profile', key='age')
    """
    return read_score(text, limits, audience=True)
