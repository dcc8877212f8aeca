"""Explanations as a person reads them."""

from typing import Any

from shortlist.model.wording import one_line

Document = dict[str, Any]


def explanation_lines(explanation: Document) -> list[str]:
    """An explanation as a person reads it.

    >>> print(*explanation_lines({
    ...     "time": "2026-03-01T09:30:00.000Z", "publication": "flat 7", "source": "ads",
    ...     "shortlist": "anna", "delivered": False, "reason": "a better one is still valid",
    ...     "above": [{"source": "ads", "publication": "flat 3", "score": 0.9}],
    ...     "score": 0.5, "subscription": "cheap", "subscriptions": [
    ...         {"id": "cheap", "matches": True, "reason": "matches", "possibility": 1.0,
    ...          "necessity": 1.0, "score": 0.5, "predicates": [
    ...             {"text": "rent < 900", "possibility": 1.0, "necessity": 1.0}]}]}), sep="\\n")
    2026-03-01T09:30:00.000Z: 'flat 7' from 'ads' for the shortlist 'anna'
    not delivered: a better one is still valid
      score 0.5, by the subscription 'cheap'
      above it: 'flat 3' from 'ads', score 0.9
      'cheap' matches: score 0.5, possibility 1, necessity 1
        1  rent < 900
    """
    reasons = [f"  {line}" for line in _reason_lines(explanation)]
    return [one_line(line) for line in (*_verdict_lines(explanation), *reasons)]


def _verdict_lines(explanation: Document) -> list[str]:
    shortlist = explanation["shortlist"]
    about = f"{explanation['publication']!r} from {explanation['source']!r}"
    whom = "" if shortlist is None else f" for the shortlist {shortlist!r}"
    verdict = explanation["reason"]
    if not explanation["delivered"]:
        verdict = f"not delivered: {verdict}"
    return [f"{explanation['time']}: {about}{whom}", verdict]


def _reason_lines(explanation: Document) -> list[str]:
    lines = []
    if explanation.get("subscription") is not None:
        rank = explanation.get("rank")
        place = "" if rank is None else f"rank {rank}, "
        score = f"score {_plain(explanation['score'])}"
        lines.append(f"{place}{score}, by the subscription {explanation['subscription']!r}")
    for standing in explanation.get("above", ()):
        about = f"{standing['publication']!r} from {standing['source']!r}"
        lines.append(f"above it: {about}, score {_plain(standing['score'])}")
    if "audience" in explanation:
        lines += _audience_lines(explanation["audience"])
    for subscription in explanation.get("subscriptions", ()):
        lines += _subscription_lines(subscription)
    return lines


def _audience_lines(audience: Document) -> list[str]:
    place = f"place {audience['place']} of {audience['of']} " if "place" in audience else ""
    ranked = f"by the advertisement {audience['advertisement']!r}, {_ranked(audience['score'])}"
    lines = [f"audience of at most {audience['k']}: {place}{ranked}"]
    for number, best in enumerate(audience.get("chosen", ()), start=1):
        lines.append(f"  {number}. {best['shortlist']!r}, {_ranked(best['score'])}")
    return lines


def _ranked(score: float | str | None) -> str:
    return "whose score cannot be computed" if score is None else f"score {_plain(score)}"


def _subscription_lines(subscription: Document) -> list[str]:
    degrees = [f"{name} {_plain(subscription[name])}" for name in ("possibility", "necessity")]
    if subscription["matches"]:
        score = f"score {_plain(subscription['score'])}"
        verdict = f"matches: {', '.join([score, *degrees])}"
    else:
        verdict = f"does not match: {subscription['reason']}"
    parts = [(_degrees(each), each) for each in subscription["predicates"]]
    width = max((len(shown) for shown, _ in parts), default=0)
    lines = [f"  {shown:{width}}  {each['text']}{_note(each)}" for shown, each in parts]
    return [f"{subscription['id']!r} {verdict}", *lines]


def _degrees(predicate: Document) -> str:
    """Both degrees, or the one where they are the same."""
    possibility, necessity = _plain(predicate["possibility"]), _plain(predicate["necessity"])
    return possibility if possibility == necessity else f"{necessity}..{possibility}"


def _note(predicate: Document) -> str:
    return f"  ({predicate['note']})" if "note" in predicate else ""


def _plain(number: float | str) -> str:
    """Without the `.0` of whole numbers."""
    return repr(number).removesuffix(".0") if isinstance(number, float) else str(number)
