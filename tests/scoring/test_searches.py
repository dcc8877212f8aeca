"""What searches skip is nothing that counts, and where last bits decide they are the plain ones."""

import math

import numpy as np
import pytest

from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.subscription import AtLeast, Subscription
from shortlist.model.vocabulary import Attribute, Vocabulary
from shortlist.scoring.blocks import BulkScores
from shortlist.scoring.kernels.cosines import _add_up
from shortlist.scoring.kernels.distances import _narrowest, reach_of
from shortlist.scoring.relevance import term_cosine, term_weights
from tests.scoring.plain_scores import PlainScores

VECTORS = Vocabulary({("embedding",): Attribute(type="vector")})


def readers_of(vocabulary, *data):
    values = Values(vocabulary)
    return [
        values.of(Publication(id="p", source="s", time=0, position=0, data=item)) for item in data
    ]


def scored(vocabulary, subscriptions, readers):
    """The findings in bulk and the plain ones, in order, and who made the former."""
    bulk, plain = BulkScores(vocabulary), PlainScores(vocabulary)
    for number, subscription in enumerate(subscriptions):
        bulk.add(number, subscription)
        plain.add(number, subscription)
    numbers = np.arange(len(subscriptions), dtype=np.int32)
    found = bulk.of_block(Block.of_readers(readers), numbers)
    rows = sorted(zip(*(column.tolist() for column in found), strict=True))
    expected = [
        (place, number, plain.of(number, read))
        for place, read in enumerate(readers)
        for number in plain
    ]
    return rows, [row for row in expected if not math.isnan(row[2])], bulk


def at_angle(draw, cosine, size):
    """Two vectors with this cosine, but for their last bits."""
    left, other = draw.normal(0.0, 1.0, size), draw.normal(0.0, 1.0, size)
    left /= math.hypot(*left)
    other -= left * (left @ other)
    other /= math.hypot(*other)
    right = cosine * left + math.sqrt(1.0 - cosine**2) * other
    return (left * draw.random()).tolist(), (right * 10 * draw.random()).tolist()


@pytest.mark.parametrize("size", [3, 8, 33])
def test_cosines_beside_a_rounding_boundary(size):
    draw = np.random.default_rng(size)
    halves = (draw.integers(0, 10**9, 200) + 0.5) / 1e9
    pairs = [at_angle(draw, half, size) for half in halves]
    subscriptions = [
        Subscription(id=str(number), score=f"cosine(embedding, {left})")
        for number, (left, _) in enumerate(pairs)
    ]
    readers = readers_of(VECTORS, *({"embedding": right} for _, right in pairs))
    found, expected, _ = scored(VECTORS, subscriptions, readers)
    assert len(expected) == len(pairs) ** 2
    assert found == expected


def weight_for(cosine, idf, query, text):
    """The weight of the word `rest` with which the text has this cosine, but for last bits."""
    low, high = 0.0, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        weights = {**idf, "rest": middle}
        if term_cosine(term_weights(text, weights), term_weights(query, weights)) > cosine:
            low = middle
        else:
            high = middle
    return high


def test_relevance_beside_a_rounding_boundary():
    draw = np.random.default_rng(5)
    query = "a b c d e f"
    text = "f rest e d d a b c"
    for half in (draw.integers(10**8, 9 * 10**8, 100) + 0.5) / 1e9:
        idf = dict(zip(query.split(), draw.random(6).tolist(), strict=True))
        idf["rest"] = weight_for(half, idf, query, text)
        vocabulary = Vocabulary({("title",): Attribute(idf=idf)})
        subscriptions = [
            Subscription(id="q", score=f"relevance(title, '{query}')"),
            Subscription(id="r", score=f"relevance(title, '{query[::-1]}')"),
        ]
        readers = readers_of(vocabulary, {"title": text}, {"title": text[::-1]}, {"title": text})
        found, expected, _ = scored(vocabulary, subscriptions, readers)
        assert found == expected


@pytest.mark.parametrize(
    "score",
    [
        "x",
        "-distance(x: 1)",
        "-max_distance(x: 1)",
        "relevance(t, 'a b')",
        "cosine(embedding, [1])",
    ],
)
def test_only_what_is_asked_for_is_found(score):
    bulk = BulkScores(VECTORS)
    for number in range(3):
        bulk.add(number, Subscription(id=str(number), score=score))
    block = Block.of_readers(readers_of(VECTORS, {"x": 1, "t": "a", "embedding": [2]}))
    assert bulk.of_block(block, np.array([1], np.int32)).subscriptions.tolist() == [1]
    assert bulk.of_block(block, np.array([], np.int32)).scores.size == 0


def test_a_block_is_read_again_for_words_that_came_later():
    bulk = BulkScores(Vocabulary())
    block = Block.of_readers(readers_of(Vocabulary(), {"t": "tim burton"}))
    for number, word in enumerate(["king", "tim", "burton"]):
        bulk.add(number, Subscription(id=word, score=f"relevance(t, '{word}')"))
        found = bulk.of_block(block, np.array([number], np.int32))
        assert found.scores.tolist() == [0.707106781 if number else 0.0]


def test_texts_that_share_no_term_are_not_looked_at():
    subscriptions = [
        Subscription(
            id="strict", score="relevance(title, 'tim burton')", at_least=AtLeast(score=0.1)
        ),
        Subscription(id="lenient", score="relevance(title, 'tim burton')"),
    ]
    titles = ["Tim Burton", "Burton upon Trent", "The Queen", "", "King"]
    readers = readers_of(Vocabulary(), *({"title": title} for title in titles), {})
    found, expected, bulk = scored(Vocabulary(), subscriptions, readers)
    assert found == expected
    assert [row[:2] for row in found if row[1] == 0] == [(0, 0), (1, 0)]
    published, posted = bulk._readings.published, bulk._scores.postings.arrays
    touched = [
        _add_up(published, posted, 0, place, np.full(8, -1.0), np.empty(8, np.int32))
        for place in range(len(titles))
    ]
    assert touched == [2, 2, 0, 0, 0]


@pytest.mark.parametrize("function", ["distance", "max_distance"])
def test_publications_out_of_reach_are_not_looked_at(function):
    draw = np.random.default_rng(7)
    data = [{"x": x, "y": y} for x, y in draw.random((300, 2)).tolist()] + [{"x": 0.5}, {}]
    subscriptions = [
        Subscription(
            id=str(number),
            score=f"-{function}(x: {x}, y: {y} weight 2)",
            at_least=AtLeast(score=-0.1),
        )
        for number, (x, y) in enumerate(draw.random((100, 2)).tolist())
    ]
    readers = readers_of(Vocabulary(), *data)
    found, expected, bulk = scored(Vocabulary(), subscriptions, readers)
    assert found == expected
    assert found
    stored, ordered, reach = bulk._scores.arrays, bulk._readings.ordered, reach_of(-0.1)
    axes = [_narrowest(stored, ordered, number, reach) for number in range(len(subscriptions))]
    looked_at = sum(end - first for _, first, end in axes)
    assert looked_at < 0.11 * len(readers) * len(subscriptions)


@pytest.mark.parametrize("function", ["distance", "max_distance"])
def test_distances_at_their_very_floor(function):
    """The floor is the score itself, which rounding may have moved to either side."""
    draw = np.random.default_rng(8)
    data = [{"x": x, "y": y} for x, y in (draw.random((60, 2)) * 10).tolist()]
    point = f"{function}(x: 3.3, y: 0.7 weight 1.1)"
    readers = readers_of(Vocabulary(), *data)
    plain = PlainScores(Vocabulary())
    plain.add(0, Subscription(id="s", score=f"-{point}"))
    floors = [plain.of(0, read) for read in readers]
    subscriptions = [
        Subscription(id=str(number), score=f"-{point}", at_least=AtLeast(score=nudged))
        for number, floor in enumerate(floors)
        for nudged in (floor, math.nextafter(floor, 0.0), math.nextafter(floor, -math.inf))
    ]
    found, expected, _ = scored(Vocabulary(), subscriptions, readers)
    assert found == expected


EXTREMES = [
    [0.0, 0.0],
    [1.0, 1.0],
    [1e200, 1e200],
    [1e200, -1e200],
    [1e308, 1e8],
    [1e-200, 1e-200],
    *(np.random.default_rng(2).random((20, 2)) * 1e-161).tolist(),
    *(np.random.default_rng(3).random((20, 2)) * 1e-155).tolist(),
]


def test_vectors_beyond_the_range_of_products():
    subscriptions = [
        Subscription(id=str(number), score=f"cosine(embedding, {vector})")
        for number, vector in enumerate(EXTREMES)
    ]
    readers = readers_of(VECTORS, *({"embedding": vector} for vector in EXTREMES))
    found, expected, _ = scored(VECTORS, subscriptions, readers)
    assert found == expected
    assert 0 < len(found) < len(EXTREMES) ** 2


def test_weights_beyond_the_range_of_products():
    small = [1.1e-161, 2.3e-161, 3.7e-161, 4.1e-161, 5.3e-161]
    idf = {"huge": 1e200, "tiny": 1e-200, "no": 0.0, **dict(zip("abcde", small, strict=True))}
    vocabulary = Vocabulary({("title",): Attribute(idf=idf)})
    texts = ["huge", "tiny", "no", "one", "huge tiny no one", "tiny no", "", "huge huge one"]
    texts += ["a b c d e", "a a a b c", "d a e", "e e e d d c", "b b c c d"]
    subscriptions = [
        Subscription(id=text or "-", score=f"relevance(title, '{text}')") for text in texts
    ]
    readers = readers_of(vocabulary, *({"title": text} for text in texts))
    found, expected, _ = scored(vocabulary, subscriptions, readers)
    assert found == expected
    assert len(found) < len(texts) ** 2
