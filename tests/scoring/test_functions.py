"""A score function is what CONTRIBUTING.md says it is: rows in tables."""

import pytest

from shortlist.engine.engine import Engine
from shortlist.language import scores
from shortlist.matching.scan import Scan
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring import expression, templates
from shortlist.scoring.kernels.layout import Operation
from tests.engine.test_bulk import everything_of

VALUES = (-3, 0, 0.5, 7, 1e200, "none", None)


@pytest.fixture
def _square(monkeypatch):
    """Of one number, with an operation that kernels have for distances."""
    monkeypatch.setattr(scores, "PLAIN", (*scores.PLAIN, "square"))
    square = {"square": lambda operands: operands[0] * operands[0]}
    monkeypatch.setattr(expression, "FUNCTIONS", {**expression.FUNCTIONS, **square})
    monkeypatch.setitem(templates.FUNCTIONS, "square", Operation.SQUARE)
    yield
    scores.read_score.cache_clear()


@pytest.mark.usefixtures("_square")
def test_a_new_function_is_computed_alike_in_bulk_and_one_by_one():
    registry = Registry(
        shortlists=[Shortlist(id="x", subscriber="x")],
        subscriptions=[
            Subscription(id=f"{n:03}", shortlist="x", score=f"square(a - {n}) + {n % 3}")
            for n in range(100)
        ],
    )
    items = [
        Publication(id=str(n), source="s", time=n, position=n, data={} if a is None else {"a": a})
        for n, a in enumerate(VALUES)
    ]
    settings = Settings(lateness=0)
    found = Engine(registry, settings).process(items, last=True)
    plain = Engine(registry, settings, matcher=Scan).process(items, last=True)
    assert everything_of(found) == everything_of(plain)
    by_publication = {each.publication.id: each.score for each in found.deliveries}
    assert by_publication["0"] == max((-3 - n) ** 2 + n % 3 for n in range(100))
    assert by_publication["3"] == max((7 - n) ** 2 + n % 3 for n in range(100))
