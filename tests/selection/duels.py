"""A bank against plain selectors, one for each of its shortlists, on the same drawn timeline."""

from dataclasses import dataclass, field

import numpy as np

from shortlist.model.shortlist import Shortlist
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, MatchSets
from shortlist.selection.bank.kept_sets import KeptSets
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.bank.publications import Publications
from shortlist.selection.bank.world import Subscriptions, World
from shortlist.selection.policies import selector
from tests.selector_calls import END_OF_TIME, POLICIES, candidate
from tests.strategies import seeded

LETTERS = "abc"


def anyone():
    """What a bank is told of its world that needs none of it."""
    return World(Publications(), Subscriptions(None, None, None), KeptSets())


@dataclass
class Player:
    """A shortlist: its plain selector, its place in the bank, its subscriptions' numbers."""

    name: str
    policy: object
    place: int
    numbers: dict[str, int]
    plain: object = field(init=False)

    def __post_init__(self):
        shortlist = Shortlist(id=self.name, subscriber="u", policy=self.policy)
        self.plain = selector(shortlist)

    def letter(self, number):
        (found,) = (letter for letter, known in self.numbers.items() if known == number)
        return found


def plain_row(player, placed):
    publication = placed.candidate.publication
    named = placed.named
    return (
        player.name,
        placed.time,
        publication.position,
        placed.score,
        named.subscription,
        named.possibility,
        named.necessity,
        placed.rank or 0,
        placed.cause == "promotion",
    )


def bank_rows(placements, players):
    by_place = {player.place: player for player in players}
    rows = []
    for place, time, number, score, named, high, low, rank, promoted, _ in zip(
        *(column.tolist() for column in placements), strict=True
    ):
        player = by_place[place]
        letter = player.letter(named)
        rows.append((player.name, time, number, score, letter, high, low, rank, promoted))
    return rows


def offers_of(block):
    """Arrivals (player, candidate, time), in order, as a bank takes them."""
    block = sorted(block, key=lambda arrival: arrival[0].place)
    offsets, members = [0], []
    columns = [[] for _ in Offers._fields]
    for player, one, time in block:
        matched = ALONE
        if len(one.matches) > 1 or one.matches[0] != one.named:
            matched = len(offsets) - 1
            members += [
                (player.numbers[match.subscription], match.possibility, match.necessity)
                for match in one.matches
            ]
            offsets.append(len(members))
        publication = one.publication
        values = (
            player.place,
            time,
            publication.position,
            publication.time,
            NEVER if publication.expiry is None else publication.expiry,
            one.score,
            player.numbers[one.named.subscription],
            one.named.possibility,
            one.named.necessity,
            UNSET if one.named.refresh is None else one.named.refresh,
            matched,
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    kinds = ["i4", "i8", "i4", "i8", "i8", "f8", "i4", "f8", "f8", "i8", "i4"]
    offers = Offers(*(np.array(c, k) for c, k in zip(columns, kinds, strict=True)))
    numbers, highs, lows = zip(*members, strict=True) if members else ((), (), ())
    sets = MatchSets(
        np.array(offsets, np.int64),
        np.array(numbers, np.int32),
        np.array(highs, np.float64),
        np.array(lows, np.float64),
    )
    return offers, sets


def duel(kind, bank, seed, most=80, shortlists=4, draw_policy=None, draw_candidate=candidate):
    """Plays one drawn timeline; both must place the same, after every block."""
    pick = seeded(seed)
    draw_policy = draw_policy or POLICIES[kind]
    players, opened = [], 0

    def join():
        nonlocal opened
        order = pick([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
        numbers = {letter: 3 * opened + n for letter, n in zip(LETTERS, order, strict=True)}
        name = f"list {opened}"
        policy = draw_policy(pick)
        players.append(Player(name, policy, bank.open(name, policy), numbers))
        opened += 1

    def check(expected, placements):
        found = bank_rows(placements, players)
        assert sorted(found) == sorted(expected), (seed, [p.policy for p in players])
        per_place = {}
        for row in found:  # of one place, in the order in which they enter
            assert per_place.get(row[0], -(2**63)) <= row[1]
            per_place[row[0]] = row[1]

    for _ in range(pick(range(1, shortlists + 1))):
        join()
    block, expected, arrived = [], [], []

    def flush():
        nonlocal block, expected
        if block:
            check(expected, bank.arrive(*offers_of(block)))
        block, expected = [], []

    time = pick(range(-9, 9))
    for position in range(pick(range(most))):
        time += pick([0, 0, 0, 0, 0, 1, 1, 2, 3, 7])
        event = pick(["arrive"] * 40 + ["flush"] * 3 + ["cancel", "retract", "advance", "close"])
        if event == "arrive":
            player = pick(players)
            one = draw_candidate(pick, time, position, 1)
            outcome = player.plain.arrive(one, time)
            expected += [plain_row(player, placed) for placed in outcome.placements]
            block.append((player, one, time))
            arrived.append(one.publication)
            continue
        flush()
        if event == "cancel":
            player, letter = pick(players), pick(LETTERS)
            placed = player.plain.cancel(letter, time)
            found = bank.cancel(player.place, player.numbers[letter], time)
            check([plain_row(player, each) for each in placed], found)
        elif event == "retract" and arrived:
            gone = pick(arrived[-8:])
            told = [
                (p, each) for p in players for each in p.plain.retract(gone.source, gone.id, time)
            ]
            check([plain_row(*each) for each in told], bank.retract(gone.position, time))
        elif event == "advance":
            told = [(p, each) for p in players for each in p.plain.advance(time)]
            check([plain_row(*each) for each in told], bank.advance(time))
        elif event == "close" and len(players) > 1:
            gone = [(player, time + pick(range(4))) for player in players[: pick([1, 1, 2])]]
            told = [(p, each) for p, instant in gone for each in p.plain.settle(instant)]
            places, instants = zip(*((p.place, instant) for p, instant in gone), strict=True)
            check(
                [plain_row(*each) for each in told],
                bank.close(np.array(places), np.array(instants)),
            )
            for player, _ in gone:
                players.remove(player)
                join()
    flush()
    told = [(p, each) for p in players for each in p.plain.advance(END_OF_TIME)]
    check([plain_row(*each) for each in told], bank.advance(END_OF_TIME))
