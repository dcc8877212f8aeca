"""Arguments of another type than the engine takes: one clear error each."""

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import replay
from shortlist.model.problem import ShortlistError, WrongArgument
from shortlist.model.registry import Registry

LINE = '{"id": "n1", "source": "cinema", "time": "2026-03-01T20:00:00Z"}'


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((Registry(), LINE), "lines: expected several lines, found one text; try .splitlines()"),
        ((Registry(), LINE.encode()), "lines: expected several lines, found one text"),
        ((Registry(), [LINE, {"id": "n2"}]), "line 2: expected JSON text, found {id: 'n2'}; try"),
        ((Registry(), [None]), "line 1: expected JSON text, found null; try json.dumps"),
        (({"subscriptions": []}, [LINE]), "registry: expected a Registry, as read_registry and"),
        (("registry.yaml", [LINE]), "it, found 'registry.yaml'"),
        ((Registry(), [LINE], 10), "settings: expected Settings(...), found 10"),
    ],
)
def test_replay(arguments, problem):
    with pytest.raises(WrongArgument) as raised:
        replay(*arguments)
    assert problem in str(raised.value)
    assert isinstance(raised.value, ShortlistError)
    assert isinstance(raised.value, TypeError)


def test_an_engine():
    with pytest.raises(WrongArgument, match="registry: expected a Registry"):
        Engine({"subscriptions": []})
    with pytest.raises(WrongArgument, match="items: expected Publication"):
        Engine().process([{"id": "n1"}])
    with pytest.raises(WrongArgument, match="items: expected Publication"):
        Engine().process([LINE])
