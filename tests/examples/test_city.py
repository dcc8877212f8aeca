"""The generated city: always the same, valid, and as messy as promised."""

import json
from collections import Counter

import pytest

from examples.city.city import Mess, publication_lines
from examples.city.files import DemoFiles, write_city
from examples.city.outcome import POLICY_NAMES, all_shortlists, policy_name
from examples.city.readers import registry_document
from examples.city.tables import CITY
from shortlist.engine.replay import replay
from shortlist.fuzzy.sets import Trapezoid
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.matching.values import Values
from shortlist.model.policy import Novelty
from shortlist.model.subscription import NORMS, Weights


@pytest.fixture(scope="module")
def registry():
    return registry_from_documents(registry_document(1000))


@pytest.mark.parametrize("count", [1, 7, 300, 2000])
def test_as_many_lines_as_asked_for_and_always_the_same(count):
    lines = publication_lines(count)
    assert len(lines) == count
    assert lines == publication_lines(count)


@pytest.mark.parametrize("readers", [1, 3, 40, 250])
def test_as_many_readers_as_asked_for_and_always_the_same(readers):
    document = registry_document(readers)
    registry = registry_from_documents(document)
    assert len({each.subscriber for each in all_shortlists(registry).values()}) == readers
    assert document == registry_document(readers)


def test_more_readers_leave_the_first_ones_as_they_are():
    few, many = (registry_document(count)["subscriptions"] for count in (40, 80))
    assert many[: len(few)] == few


def test_the_mess_is_exactly_as_promised():
    count = 4000
    mess = Mess.among(count)
    registry = registry_from_documents({"vocabulary": registry_document(1)["vocabulary"]})
    reasons = Counter(
        "duplicate" if reject.reason == "duplicate" else "malformed"
        for reject in replay(registry, publication_lines(count)).rejects
    )
    assert reasons == {"malformed": mess.malformed, "duplicate": mess.duplicates}


def test_every_kind_of_malformed_line_is_there():
    reader = ItemReader(registry_from_documents({}).vocabulary)
    found = set()
    for line in publication_lines(4000):
        try:
            reader.line(line, 1)
        except BadItem as problem:
            found.add(str(problem).split(":")[0])
    assert found == {"not JSON", "id", "time", "data", "source"}


def test_publications_are_of_every_form(registry):
    reader = ItemReader(registry.vocabulary)
    values = Values(registry.vocabulary)
    kinds, rents, unsure, audiences = Counter(), Counter(), 0, 0
    for line in publication_lines(3000):
        try:
            publication = reader.line(line, 1)
        except BadItem:
            continue
        kinds[publication.type] += 1
        audiences += publication.audience is not None
        if publication.type == "film":
            starts = values.of(publication)(("starts",))
            assert starts.micros == publication.expiry > publication.time
        elif publication.type == "rental":
            rent = publication.data["rent"]
            rents[next(iter(rent)) if isinstance(rent, dict) else type(rent).__name__] += 1
        else:
            unsure += isinstance(values.of(publication)(("value",)), Trapezoid)
    assert set(kinds) == {"rental", "film", "alert"}
    assert rents.keys() >= {"term", "between", "int", "str"}
    assert unsure > 100
    assert audiences


def test_every_policy_in_every_form_is_used(registry):
    policies = [each.policy for each in all_shortlists(registry).values()]
    assert {policy_name(policy) for policy in policies} == set(POLICY_NAMES)
    top = [policy for policy in policies if policy.kind == "top-k"]
    assert any(policy.refresh for policy in top)
    assert any(policy.period for policy in top)
    novelties = [policy for policy in policies if isinstance(policy, Novelty)]
    forms = {(each.algorithm, each.mode, each.measure) for each in novelties}
    assert len(forms) == 12
    assert len({each.aging for each in novelties}) > 1


def test_forty_readers_already_use_every_kind_of_policy():
    registry = registry_from_documents(registry_document(40))
    kinds = {each.policy.kind for each in all_shortlists(registry).values()}
    assert kinds == {"everything", "top-k", "window", "novelty", "digest", "chain"}


def test_every_norm_combination_and_score_is_used(registry):
    subscriptions = registry.subscriptions
    norms = {each.norm if isinstance(each.norm, str) else "weights" for each in subscriptions}
    assert norms == {*NORMS, "weights"}
    assert any(isinstance(each.norm, Weights) for each in subscriptions)
    combines = {each.combine for each in registry.shortlists}
    assert combines == {"max", "min", "mean", "sum", "most_specific"}
    assert any(each.prefers for each in registry.shortlists)
    scores = " ".join(str(each.score) for each in subscriptions)
    for part in ("distance(", "max_distance(", "relevance(", "cosine(", "log(", "necessity", "0.9"):
        assert part in scores
    wheres = " ".join(each.where or "" for each in subscriptions)
    for part in ("very", "somewhat", "is not", "possibility >=", "necessity >=", " or ", "time '"):
        assert part in wheres


def test_some_readers_have_several_shortlists_and_some_subscriptions_their_own(registry):
    owners = Counter(each.subscriber for each in all_shortlists(registry).values())
    assert max(owners.values()) >= 3
    assert any(each.shortlist is None for each in registry.subscriptions)


def test_publishers_limit_their_audience(registry):
    assert len(registry.advertisements) == len(CITY["advertisements"])
    scores = {str(each.score) for each in registry.advertisements}
    assert {"subscription.score", "subscription.profile.loyalty", "-subscription.volume"} == scores


def test_the_files_hold_the_city(tmp_path, registry):
    files = DemoFiles(tmp_path / "demo")
    write_city(files, 200, 1000)
    assert read_registry(files.registry) == registry
    lines = files.publications.read_text(encoding="utf-8").splitlines()
    assert lines == publication_lines(200)
    assert json.loads(lines[0])["specversion"] == "1.0"
