"""The policies against a naive second implementation, on random small streams."""

from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.plain import PlainMatching
from shortlist.engine.replay import read_items, replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import registry_commands
from shortlist.language.parser import parse_audience_score, parse_where
from shortlist.language.tree import Number
from shortlist.matching.conditions import condition
from shortlist.matching.scan import Scan
from shortlist.model.command import (
    Close,
    Command,
    Open,
    Retract,
    Subscribe,
    Unsubscribe,
    Update,
)
from shortlist.model.policy import Chain
from shortlist.model.policy_changes import kept_by
from shortlist.model.settings import Limits, Settings
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.expression import Subject, Uncomputable, expression
from shortlist.selection.policies import SELECTORS, selector
from tests.engine.naive import NAIVE, Row, fnv1a64, splitmix64
from tests.selector_calls import END_OF_TIME, POLICIES, calls
from tests.strategies import (
    advertisement,
    drawn,
    registries,
    registry,
    seeded,
    timeline,
    timelines,
)


def row(placed):
    named = placed.named.subscription
    position = placed.candidate.publication.position
    return Row(placed.time, position, placed.score, named, placed.rank, placed.cause)


def answers(policy, calls):
    """What the engine's selector says, call by call."""
    selecting = selector(Shortlist(id="list", subscriber="u", policy=policy))
    for call, *arguments in calls:
        found = getattr(selecting, call)(*arguments)
        yield [row(placed) for placed in (found.placements if call == "arrive" else found)]


def naive_answers(policy, calls):
    """What the text says; mere passing of time is no event, only its end is."""
    naive = NAIVE[type(policy)](policy, "list")
    for call, *arguments in calls:
        if call == "advance":
            yield naive.finish() if arguments == [END_OF_TIME] else []
        else:
            yield getattr(naive, call)(*arguments)


def in_order(made):
    return made.time, made.position


def agree(policy, calls):
    expected = [made for rows in naive_answers(policy, calls) for made in rows]
    found = [made for rows in answers(policy, calls) for made in rows]
    assert sorted(found, key=in_order) == sorted(expected, key=in_order), (policy, calls)


def test_every_policy_has_a_naive_twin():
    assert set(NAIVE) == set(POLICIES) == set(SELECTORS)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
@given(data=st.data())
def test_drawn_streams(policy, data):
    agree(data.draw(drawn(policy)()), data.draw(drawn(calls)(most=15)))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
def test_thousands_of_streams(policy):
    for seed in range(1000):
        pick = seeded(seed)
        agree(policy(pick), calls(pick))


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
def test_long_streams(policy):
    for seed in range(10_000):
        pick = seeded(seed)
        agree(policy(pick), calls(pick, most=120))


def test_the_naive_draws_are_the_published_generators():
    """The first outputs of splitmix64 from the state 1234567; FNV-1a of known texts."""
    states = [(1234567 + n * 0x9E3779B97F4A7C15) % 2**64 for n in range(3)]
    assert [splitmix64(state) for state in states] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    assert fnv1a64(b"") == 0xCBF29CE484222325
    assert fnv1a64(b"foobar") == 0x85944171F73967E8


class NaiveSelecting:
    """What the engine does beside matching and scoring: order, duplicates, commands, audience."""

    def __init__(self, registry, settings):
        self.matching = PlainMatching(registry.vocabulary, Limits(), Scan)
        self.settings = settings
        self.policies = {}
        self.accepted = {}
        self.rows = []
        self.rejected = set()
        for command in registry_commands(registry):
            self.command(command)

    def run(self, items):
        for item in sorted(items, key=lambda item: (item.time, item.position)):
            if isinstance(item, Command):
                if self.matching.roster.refusal(item) is None:
                    self.command(item)
                else:
                    self.rejected.add(item.position)
            elif self.accept(item):
                if item.replaces is not None:
                    self.retract(item.source, item.replaces, item.time)
                if item.expiry is None or item.expiry > item.time:
                    self.publish(item)
        for name, policy in self.policies.items():
            self.add(name, policy.finish())
        return sorted(self.rows, key=lambda row: (row[1].time, row[1].position, row[0]))

    def accept(self, publication):
        key = publication.source, publication.id
        if (
            key in self.accepted
            and publication.time - self.accepted[key] < self.settings.dedup_micros
        ):
            self.rejected.add(publication.position)
            return False
        self.accepted[key] = publication.time
        return True

    def publish(self, publication):
        read = self.matching.values.of(publication)
        candidates = self.matching.candidates(publication, read)
        candidates = self.audience(publication, read, candidates)
        for candidate in candidates:
            self.add(
                candidate.shortlist,
                self.policies[candidate.shortlist].arrive(candidate, publication.time),
            )

    def audience(self, publication, read, candidates):
        """The k best of all matching shortlists, where the publisher advertised."""
        vocabulary = self.matching.values.vocabulary
        inducing = [
            made
            for made in self.matching.roster.advertisements.values()
            if made.source == publication.source
            and (
                made.where is None
                or condition(parse_where(made.where, vocabulary), vocabulary)(read).possibility > 0
            )
        ]
        if not inducing:
            return candidates
        k = max(made.k for made in inducing)
        if publication.audience is not None:
            k = min(k, publication.audience)
        first = min(inducing, key=lambda made: made.id)
        tree = Number(first.score) if first.score == 1 else parse_audience_score(first.score)
        compute = expression(tree, vocabulary)

        def best_first(candidate):
            about = Subject(read, candidate=self.matching.scoring.described(candidate))
            try:
                score = round(compute(about), 9)
            except Uncomputable:
                score = nan
            return (1, 0, candidate.shortlist) if isnan(score) else (0, -score, candidate.shortlist)

        chosen = sorted(candidates, key=best_first)[:k]
        return [candidate for candidate in candidates if candidate in chosen]

    def command(self, command):
        match command:
            case Open(shortlist=shortlist):
                self.open(shortlist)
            case Subscribe(subscription=subscription) if subscription.shortlist is None:
                self.open(subscription.own_shortlist())
            case Close(shortlist=name):
                self.add(name, self.policies.pop(name).settle(command.time))
            case Update():
                self.update(command)
            case Retract(source=source, publication=publication):
                self.retract(source, publication, command.time)
            case Unsubscribe(subscription=name):
                shortlist = self.matching.roster.subscriptions[name].shortlist
                if shortlist is None:
                    self.add(name, self.policies.pop(name).settle(command.time))
                else:
                    self.add(shortlist, self.policies[shortlist].cancel(name, command.time))
        self.matching.apply(command)

    def update(self, command):
        roster = self.matching.roster
        before = roster.shortlists[roster.shortlist_of(command)]
        subscription, after = roster.updated(command)
        policy = self.policies[before.id]
        self.add(before.id, policy.settle(command.time))
        if after is not None and not kept_by(before.policy, after.policy):
            self.open(after)
        elif after is not None and after.policy != before.policy:
            self.add(before.id, policy.change(after.policy, command.time))
        if subscription is not None and isinstance(before.policy, Chain):
            policy.refresh(subscription.id, subscription.refresh)

    def retract(self, source, publication, time):
        for name, policy in self.policies.items():
            self.add(name, policy.retract(source, publication, time))

    def open(self, shortlist):
        self.policies[shortlist.id] = NAIVE[type(shortlist.policy)](shortlist.policy, shortlist.id)

    def add(self, shortlist, rows):
        self.rows += [(shortlist, row) for row in rows]


def whole_engine_agrees(document, lines, dedup):
    settings = Settings(dedup=dedup)
    made = registry_from_documents(document)
    items, bad = read_items(made, lines, settings)
    naive = NaiveSelecting(made, settings)
    expected = naive.run(items)
    result = replay(made, lines, settings)
    found = [
        (
            made.shortlist,
            Row(
                made.time,
                made.publication.position,
                made.score,
                made.subscription,
                made.rank,
                made.cause,
            ),
        )
        for made in result.deliveries
    ]
    assert found == expected
    rejected = naive.rejected | {reject.position for reject in bad}
    assert {reject.position for reject in result.rejects} == rejected


DEDUPS = ["PT0.000001S", "500ms", "2s", "24h"]


@given(registries(), timelines(), st.sampled_from(DEDUPS))
def test_the_whole_engine(document, lines, dedup):
    """Commands, refusals, duplicates and audiences reach the policies as they should."""
    whole_engine_agrees(document, lines, dedup)


def test_the_whole_engine_on_advertised_publications():
    for seed in range(150):
        pick = seeded(seed)
        document = registry(pick)
        document["advertisements"] = [advertisement(pick, name) for name in ("ad1", "ad2", "ad3")]
        whole_engine_agrees(document, timeline(pick), pick(DEDUPS))
