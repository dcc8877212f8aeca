"""What becomes of what a shortlist holds when its policy changes."""

from dataclasses import fields

from shortlist.model.policy import Chain, Policy, SinglePolicy, policies_of


def kept_by(before: Policy, after: Policy) -> bool:
    """Whether a shortlist goes on with what it holds; else it starts over, empty.

    It goes on where the answer can be continued from that: with the same policy, a smaller k,
    another `refresh` or `period` of `top-k` for what comes later, another `error` of `window`;
    what waits goes on with another k, or in other quiet hours.
    The policies of a chain count one by one.

    >>> from shortlist.model.policy import Window
    >>> kept_by(Window(k=9, window=None), Window(k=3, window=None))
    True
    >>> kept_by(Window(k=3, window=None), Window(k=9, window=None))
    False
    """
    return _obstacle(before, after) is None


def outcome(before: Policy, after: Policy) -> str:
    """What a change of policy does to a shortlist, in one line.

    >>> from shortlist.model.policy import TopK, Window
    >>> outcome(TopK(k=3), TopK(k=2)), outcome(TopK(k=3), Window(k=3, window=None))
    ('keeps what it holds', 'starts over: window is another kind of policy than top-k')
    >>> outcome(TopK(k=2), TopK(k=3))
    'starts over: k grows from 2 to 3'
    """
    obstacle = _obstacle(before, after)
    return "keeps what it holds" if obstacle is None else f"starts over: {obstacle}"


def _obstacle(before: Policy, after: Policy) -> str | None:
    """The first reason why a shortlist cannot go on with what it holds."""
    old, new = policies_of(before), policies_of(after)
    if isinstance(before, Chain) != isinstance(after, Chain) or len(old) != len(new):
        return "the policies of its chain are others"
    return next(filter(None, map(_single_obstacle, old, new)), None)


def _single_obstacle(before: SinglePolicy, after: SinglePolicy) -> str | None:
    if before.kind != after.kind:
        return f"{after.kind} is another kind of policy than {before.kind}"
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new and field.name not in before.free:
            return f"{field.name.rstrip('_')} changes"
        if field.name == "k" and not before.waits and new > old:
            return f"k grows from {old} to {new}"
    return None
