"""Registries and publications for the compiled index, larger than the strategies' own."""

import itertools
import json
from random import Random

from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from tests.strategies import CRISP, FUZZY, VOCABULARY, publications, seeded, subscription

WORDS = ["red car", "Red RED bus", "blue car", "", "carcar", "ça va", "é", "a\0b"]
RARE = [
    "title < 'blue'",
    "title >= 'Red'",
    "title between 'a' and 'red car'",
    "title not between 'a' and 'c'",
    "genre > 'e'",
    "not genre < 'e'",
    "genre between 'drama' and 'epic'",
    "title contains ''",
    "title not contains ''",
    "title starts with 'é'",
    "title contains 'car' and title ends with 'car'",
    "scores != 2",
    "not scores != 2",
    "scores in (1, 4)",
    "scores not between 2 and 3",
    "genre contains 'r'",
    "genre in ('war', 'epic')",
    "open != true",
    "not open = true",
    "released >= '2026-01-01'",
    "released in ('2026-01-01', '2026-01-02')",
    "price between 3 and 1",
    "size = 1e300",
    "price > -1 and price < 0.5",
    "title = 'a\0b'",
]


def vocabulary() -> Vocabulary:
    return registry_from_documents({"vocabulary": VOCABULARY}).vocabulary


def subscriptions(seed: int, count: int) -> list[Subscription]:
    """Many subscriptions, some of them with the same condition."""
    pick, random = seeded(seed), Random(seed)
    documents = []
    for number in range(count):
        made = subscription(pick, f"s{number:03}", None)
        if random.random() < 0.3:
            parts = random.sample(RARE + CRISP + FUZZY, random.randint(1, 3))
            made["where"] = random.choice([" and ", " or "]).join(parts)
            if isinstance(made.get("norm"), dict):
                del made["norm"]
        documents.append(made)
    registry = registry_from_documents({"vocabulary": VOCABULARY, "subscriptions": documents})
    return list(registry.subscriptions)


def readers(seed: int, count: int) -> list:
    """Many publications, with odd texts among them."""
    read, values, random = ItemReader(vocabulary()), Values(vocabulary()), Random(seed)
    drawn = (line for more in itertools.count() for line in publications(seeded(seed + more)))
    found = []
    for line in itertools.islice(drawn, count):
        document = json.loads(line)
        if random.random() < 0.3:
            document["data"] = (document.get("data") or {}) | {"title": random.choice(WORDS)}
        found.append(values.of(read.document(document, 0)))
    return found


def plain(some: list[Subscription], limits: Limits | None = None) -> Scan:
    scan = Scan(vocabulary(), limits)
    for made in some:
        scan.add(made)
    return scan


def by_publication(index, found, count: int) -> list:
    """What arrays say, as a plain matcher says it."""
    rows: list[list] = [[] for _ in range(count)]
    degrees = zip(found.possibility.tolist(), found.necessity.tolist(), strict=True)
    pairs = zip(found.publications.tolist(), found.subscriptions.tolist(), strict=True)
    for (publication, number), (high, low) in zip(pairs, degrees, strict=True):
        rows[publication].append((index.numbering.names[number], high, low))
    return [sorted(row) for row in rows]


def compiled(some: list[Subscription], limits: Limits | None = None) -> Index:
    """An index that makes masks for every block, however small."""
    index = Index(vocabulary(), limits, few=0)
    for made in some:
        index.add(made)
    return index


def matched(index: Index, reads: list) -> list:
    return by_publication(index, index.match_block(Block.of_readers(reads)), len(reads))
