"""However many mistakes there are, few are shown, and few names are compared with others."""

import difflib
import json

import pytest

from shortlist.engine.mistakes import likely_mistakes
from shortlist.intake.documents import Documents
from shortlist.intake.files import MOST_PROBLEMS, registry_from_documents
from shortlist.intake.shapes import MOST_SHOWN
from shortlist.model.problem import InvalidRegistry
from shortlist.model.settings import Limits
from shortlist.model.wording import MOST_COMPARED, MOST_HINTS, alike, choice_of

TIME = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were compared with others."""
    names: list[str] = []
    original = difflib.get_close_matches

    def counting(word: str, *arguments: object, **named: object) -> list[str]:
        names.append(word)
        return original(word, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("shortlist.model.wording.get_close_matches", counting)
    return names


def problems_of(document: dict[str, object]) -> list[str]:
    with pytest.raises(InvalidRegistry) as refused:
        registry_from_documents(document)
    return str(refused.value).split("\n")


def test_a_registry_with_the_same_mistake_everywhere() -> None:
    some = [{"id": f"s{at}", "weight": 0} for at in range(MOST_PROBLEMS + 500)]
    lines = problems_of({"subscriptions": some})
    assert len(lines) == MOST_PROBLEMS + 1
    assert lines[0].startswith("registry: subscription 's0': weight: expected")
    assert lines[-1] == "500 more problems"


def test_conflicts_count_among_them(compared: list[str]) -> None:
    bad = [{"id": f"s{at}", "weight": 0} for at in range(MOST_PROBLEMS - 100)]
    homeless = [{"id": f"h{at}", "shortlist": f"homes{at}"} for at in range(300)]
    lines = problems_of({"shortlists": [{"id": "home", "subscriber": "x"}], "subscriptions": bad})
    assert len(lines) == MOST_PROBLEMS - 100
    document = {"shortlists": [{"id": "home", "subscriber": "x"}], "subscriptions": homeless}
    lines = problems_of(document)
    assert len(lines) == 300
    assert sum("did you mean 'home'?" in line for line in lines) == len(compared) == MOST_HINTS
    document["subscriptions"] = bad + homeless
    assert problems_of(document)[-1] == "200 more problems"


def test_a_document_with_very_many_unknown_fields(compared: list[str]) -> None:
    documents = Documents()
    fields = {f"wher{at}": 1 for at in range(5_000)}
    assert documents.read("subscription", {"id": "s", **fields}) is None
    assert len(documents.problems) == MOST_SHOWN + 1
    assert len(compared) == MOST_SHOWN
    assert str(documents.problems[-1]) == f"subscription 's': {5_000 - MOST_SHOWN:,} more problems"


@pytest.mark.parametrize("names", [50, MOST_COMPARED + 1])
def test_very_many_misspelled_attributes(compared: list[str], names: int) -> None:
    asked = [{"id": f"s{at}", "where": f"rnt{at} = 1 and fee{at} = 1"} for at in range(100)]
    registry = registry_from_documents({"subscriptions": asked})
    data = {f"rent{at}": 2 for at in range(names)}
    lines = [
        json.dumps({"id": "p", "source": "s", "time": TIME, "data": part}).encode()
        for part in (data, {"fee": 3})
    ]
    limits = Limits(attributes=2 * MOST_COMPARED)
    warnings = likely_mistakes(registry, lines, limits, commands=False)
    assert len(warnings) == MOST_HINTS + 2
    rest = "180 more attributes are asked for that none of 2 publications has"
    assert warnings[MOST_HINTS] == rest
    assert len(compared) == (MOST_HINTS if names < MOST_COMPARED else 0)
    assert any("did you mean" in warning for warning in warnings) == (names < MOST_COMPARED)


def test_what_is_too_long_to_compare(compared: list[str]) -> None:
    assert alike("x" * 10_000, ["x" * 9_999]) is None
    assert choice_of("x" * 10_000, ["flats"]) == "there is 'flats'"
    assert not compared
    assert alike("flatz", ["x" * 9_999, "flats"]) == "flats"
