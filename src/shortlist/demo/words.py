"""How the screen speaks of policies, publications and reasons."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shortlist.demo.stories import Story, Told
from shortlist.demo.tables import CITY
from shortlist.model.durations import format_duration
from shortlist.model.policy import Novelty, Policy, Span, TopK, Window
from shortlist.model.subscription import Subscription, Weights


def policy_words(policy: Policy) -> str:
    """
    >>> policy_words(Window(k=3, window=100))
    'the 3 best of the last 100 matches'
    >>> policy_words(TopK(k=2, refresh=3_600_000_000))
    'unless 2 better ones are still valid, each for 1h'
    """
    match policy:
        case TopK(k=k, refresh=refresh, period=period):
            lasting = [f"each for {format_duration(refresh)}"] if refresh else []
            lasting += [f"within {format_duration(period)}"] if period else []
            better = "a better one is" if k == 1 else f"{k} better ones are"
            return ", ".join([f"unless {better} still valid", *lasting])
        case Window(k=k, window=window):
            span = format_duration(window.micros) if isinstance(window, Span) else window
            whole = "all so far" if span is None else f"the last {span}"
            return f"the {k} best of {whole}" + (" matches" if isinstance(span, int) else "")
        case Novelty(rate=rate, period=period):
            return f"{rate:.0%} of every {period} matches, the most novel"
    return "whatever matches"


def subscription_words(subscription: Subscription) -> str:
    """The subscription as its file has it."""
    parts = [subscription.where or "everything"]
    if subscription.score is not None:
        parts.append(f"score {subscription.score}")
    if isinstance(subscription.norm, Weights):
        parts.append(f"weights {list(subscription.norm.weights)}")
    elif subscription.norm != "min":
        parts.append(f"norm {subscription.norm}")
    return "  ·  ".join(parts)


def headline(data: Mapping[str, Any]) -> str:
    """A publication in a few words.

    >>> headline({"district": "Hill", "size": 54, "rent": {"between": [700, 800]}})
    'Hill, 54 m², 700–800'
    """
    if "rent" in data:
        return f"{data['district']}, {_told(data['size'])} m², {_told(data['rent'])}"
    if "title" in data:
        starts = datetime.fromisoformat(data["starts"])
        return f"{data['title']}, {data['cinema']} {starts:%H:%M}"
    unit = CITY["sensors"][data["kind"]]["unit"]
    return f"{data['kind']} at {data['station']}, {_told(data['value'])} {unit}"


def moment(time: str) -> str:
    """
    >>> moment("2026-03-05T09:30:00.000Z")
    'Thu 09:30'
    """
    return f"{datetime.fromisoformat(time):%a %H:%M}"


def why(told: Told, story: Story) -> str:
    """The engine's reasons in short: for which subscription, how far it holds, who stood above."""
    arrival, last = told.reasons[0], told.last
    if not last["delivered"]:
        return f"not delivered: {last['reason']}{_nearest(arrival, ',')}"
    parts = [] if len(story.subscriptions) == 1 else [last["subscription"].rpartition("/")[2]]
    parts += _degrees(arrival)
    if last["reason"].startswith("promoted"):
        parts.append(f"promoted, waited since {moment(arrival['time'])}{_nearest(arrival)}")
    elif arrival.get("above"):
        parts.append(_nearest(arrival).strip())
    elif last["rank"] == 1:
        parts.append("none above")
    return ", ".join(parts) or last["reason"]


def _nearest(arrival: Mapping[str, Any], separator: str = "") -> str:
    """Of those that stood above, the one that stood next."""
    for above in (arrival.get("above") or ())[-1:]:
        return f"{separator} below {above['publication']} ({above['score']:.3g})"
    return ""


def _degrees(arrival: Mapping[str, Any]) -> list[str]:
    """How far the named subscription holds, where it does not hold wholly."""
    for subscription in arrival["subscriptions"]:
        possibility, necessity = subscription["possibility"], subscription["necessity"]
        if subscription["id"] != arrival["subscription"] or necessity == 1.0:
            continue
        if possibility == necessity:
            return [f"degree {possibility:.2g}"]
        return [f"possibility {possibility:.2g}, necessity {necessity:.2g}"]
    return []


def _told(value: object) -> str:
    """A fact as its publisher tells it."""
    match value:
        case {"term": term}:
            return str(term)
        case {"between": [low, high]}:
            return f"{low}–{high}"
        case {"trapezoid": [low, *_, high]}:
            return f"about {(low + high) / 2:g}"
    return str(value)
