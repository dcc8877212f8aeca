"""Every field of every noun, wrong in every way: one line each, that says what was expected."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.model.problem import InvalidRegistry

NAN, INFINITE, HUGE = float("nan"), float("inf"), 10**400
KINDS = "everything, top-k, window, novelty, fresh, diverse, digest, quiet, cap"
POLICY = f"expected an object with a kind ({KINDS})"
DURATION = "expected a duration above zero such as 500ms, 30s, 40m, 12h, 7d or PT40M"
WINDOW = "expected a duration above zero such as 40m, a count of at least 1, or null for everything"
SHARE = "expected a number from 0 to 1"
AUDIENCE = "expected a whole number from 0 to 2147483647"
NOT_EMPTY = "expected text that is not empty"
POSITIVE = "expected a whole number of at least 1"
NORM = (
    "expected min, product, lukasiewicz, average, max, "
    "or {weights: a list of numbers of at least 0, not all of them 0}"
)
SCORE = "expected a score expression or a number"
INTEREST = "expected an expression, or a plain number from 0 to 1"
TYPES = "expected 'number', 'string', 'boolean', 'time' or 'vector'"
SHAPES = "expected 'linear', 'smooth' or 'gauss'"
CORNERS = "expected a list of four corners, each a number or null"
COMBINES = "expected 'max', 'min', 'mean', 'sum' or 'most_specific'"
CORE = [1, 2, 3, 4]


def problems(**document):
    try:
        registry_from_documents(document)
    except InvalidRegistry as invalid:
        return [line.removeprefix("registry: ") for line in str(invalid).splitlines()]
    return []


def of_subscription(**fields):
    return problems(subscriptions=[{"id": "s", **fields}])


def of_shortlist(**fields):
    return problems(shortlists=[{"id": "l", "subscriber": "anna", **fields}])


def of_advertisement(**fields):
    return problems(advertisements=[{"id": "a", "source": "ads", "k": 1, **fields}])


def of_attribute(declaration, name="rent"):
    return problems(vocabulary={name: declaration})


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ("number", "expected an object, found 'number'"),
        (5, "expected an object, found 5"),
        ([], "expected an object, found []"),
        ({"type": "float"}, f"type: {TYPES}, found 'float'"),
        ({"type": 5}, f"type: {TYPES}, found 5"),
        ({"type": ["number"]}, f"type: {TYPES}, found ['number']"),
        ({"many": 1}, "many: expected true or false, found 1"),
        ({"many": "yes"}, "many: expected true or false, found 'yes'"),
        (
            {"type": "vector", "many": True},
            "many: expected false for what is one value, found true",
        ),
        ({"terms": []}, "terms: expected an object, found []"),
        ({"terms": {"a": 5}}, "terms.a: expected an object, found 5"),
        ({"terms": {"a": [1]}}, "terms.a: expected an object, found [1]"),
        ({"terms": {"": {"trapezoid": CORE}}}, f"terms.'': {NOT_EMPTY}, found ''"),
        ({"terms": {1: {"trapezoid": CORE}}}, f"terms.1: {NOT_EMPTY}, found 1"),
        ({"terms": {"a": {}}}, "terms.a: a term is either a trapezoid or values"),
        (
            {"terms": {"a": {"trapezoid": CORE, "values": {"x": 1}}}},
            "terms.a: a term is either a trapezoid or values",
        ),
        ({"terms": {"a": {"trapezoid": [1, 2]}}}, f"terms.a.trapezoid: {CORNERS}, found [1, 2]"),
        ({"terms": {"a": {"trapezoid": "x"}}}, f"terms.a.trapezoid: {CORNERS}, found 'x'"),
        (
            {"terms": {"a": {"trapezoid": [1, 2, 3, "4"]}}},
            f"terms.a.trapezoid: {CORNERS}, found [1, 2, 3, '4']",
        ),
        (
            {"terms": {"a": {"trapezoid": [1, 2, 3, INFINITE]}}},
            f"terms.a.trapezoid: {CORNERS}, found [1, 2, 3, inf]",
        ),
        (
            {"terms": {"a": {"trapezoid": [4, 3, 2, 1]}}},
            "terms.a: the corners of a trapezoid must not decrease: 4.0, 3.0, 2.0, 1.0",
        ),
        (
            {"terms": {"a": {"trapezoid": [None, 2, 3, 4]}}},
            "terms.a: the first two corners of a trapezoid are both numbers or both null",
        ),
        (
            {"terms": {"a": {"trapezoid": [1, 2, 3, None]}}},
            "terms.a: the last two corners of a trapezoid are both numbers or both null",
        ),
        (
            {"terms": {"a": {"trapezoid": CORE, "shape": "round"}}},
            f"terms.a.shape: {SHAPES}, found 'round'",
        ),
        ({"terms": {"a": {"trapezoid": CORE, "left": 1}}}, f"terms.a.left: {SHAPES}, found 1"),
        (
            {"terms": {"a": {"trapezoid": CORE, "right": ""}}},
            f"terms.a.right: {SHAPES}, found ''",
        ),
        (
            {"terms": {"a": {"trapezoid": CORE, "rigth": "linear"}}},
            "terms.a.rigth: is not a field that is known here; did you mean right?",
        ),
        ({"terms": {"a": {"values": 5}}}, "terms.a.values: expected an object, found 5"),
        ({"terms": {"a": {"values": {}}}}, "terms.a: some value must have degree 1"),
        ({"terms": {"a": {"values": {"x": 0.5}}}}, "terms.a: some value must have degree 1"),
        ({"terms": {"a": {"values": {"x": 2}}}}, f"terms.a.values.x: {SHARE}, found 2"),
        ({"terms": {"a": {"values": {"x": "1"}}}}, f"terms.a.values.x: {SHARE}, found '1'"),
        ({"terms": {"a": {"values": {True: 1}}}}, "terms.a.values.true: expected text, found true"),
        (
            {"terms": {"a": {"values": {"x": 1}, "shape": "smooth"}}},
            "terms.a: shape, left and right belong to a trapezoid, not to values",
        ),
        (
            {"type": "number", "terms": {"a": {"values": {"x": 1}}}},
            "terms.a: expected a trapezoid for the type number",
        ),
        (
            {"type": "string", "terms": {"a": {"trapezoid": CORE}}},
            "terms.a: expected values for the type string",
        ),
        (
            {"type": "time", "terms": {"a": {"trapezoid": CORE}}},
            "terms.a: expected no term for the type time",
        ),
        ({"idf": 1}, "idf: expected an object, found 1"),
        ({"idf": {"a": "1"}}, "idf.a: expected a number, found '1'"),
        ({"idf": {"a": NAN}}, "idf.a: expected a number, found nan"),
        ({"idf": {"a": True}}, "idf.a: expected a number, found true"),
        ({"type": "number", "idf": {"a": 1}}, "idf: expected none for the type number"),
        ({"typ": "number"}, "typ: is not a field that is known here; did you mean type?"),
        (
            {"unit": "euro"},
            "unit: is not a field that is known here; expected only type, many, terms, idf",
        ),
        ({1: 2}, "1: expected a field name, found 1"),
    ],
)
def test_declaration(declaration, problem):
    assert of_attribute(declaration) == [f"attribute 'rent': {problem}"]


@pytest.mark.parametrize("declaration", [None, {}, {"type": None}, {"terms": None, "idf": None}])
def test_null_is_absent_in_a_declaration(declaration):
    assert of_attribute(declaration) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "attribute '': '' is not an attribute name: column 1: expected a name"),
        ("a b", "attribute 'a b': 'a b' is not an attribute name: column 2: expected a name"),
        ("a.", "attribute 'a.': 'a.' is not an attribute name: column 3: expected a name"),
        ("1a", "attribute '1a': '1a' is not an attribute name: column 1: expected a name"),
        ('"a', "attribute '\"a': '\"a' is not an attribute name: column 1: expected a name"),
        (
            5,
            "attribute 5: expected a name, in quotes where it looks like something else",
        ),
        (
            True,
            "attribute true: expected a name, in quotes where it looks like something else",
        ),
    ],
)
def test_attribute_name(name, problem):
    assert of_attribute({}, name) == [problem]


@pytest.mark.parametrize("name", ["é", '"zip code"', 'address."zip code"', "event.time"])
def test_odd_names_that_are_names(name):
    assert of_attribute({}, name) == []


def test_one_attribute_declared_under_two_spellings():
    found = problems(vocabulary={"rent": {"type": "number"}, '"rent"': {}})
    assert found == [
        "attribute '\"rent\"': expected one declaration of an attribute, found a second one"
    ]


def test_context_attributes_keep_their_type():
    assert of_attribute({"type": "number"}, "event.time") == [
        "attribute 'event.time': type: expected time, as it always is, found number"
    ]
    assert of_attribute({"type": "string", "many": True}, "event.type") == [
        "attribute 'event.type': many: expected false for what is one value, found true"
    ]
    bright = {"terms": {"bright": {"values": {"happy": 1}}}}
    assert of_attribute(bright, "event.type") == []


SCALE = "expected a number above 0, or null for the same or different"
ATTRIBUTE = "expected the name of an attribute, not event.time"
TOP = {"kind": "top-k", "k": 1}


def diverse(**fields):
    return {"kind": "diverse", "k": 1, "window": "1d", "over": {"rent": 500}, **fields}


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("top-k", f"policy: {POLICY}, or a list of them, found 'top-k'"),
        (5, f"policy: {POLICY}, or a list of them, found 5"),
        ({}, f"policy.kind: is missing; expected one of {KINDS}"),
        ({"kind": None}, f"policy.kind: is missing; expected one of {KINDS}"),
        ({"kind": "best"}, f"policy.kind: expected one of {KINDS}, found 'best'"),
        ({"kind": 5}, f"policy.kind: expected one of {KINDS}, found 5"),
        ({"kind": ["top-k"]}, f"policy.kind: expected one of {KINDS}, found ['top-k']"),
        (
            {"kind": "everything", "k": 1},
            "policy.k: is not a field that is known here; expected only kind",
        ),
        ({"kind": "top-k"}, "policy.k: is missing"),
        ({"kind": "top-k", "k": None}, "policy.k: is missing"),
        ({"kind": "top-k", "k": 0}, f"policy.k: {POSITIVE}, found 0"),
        ({"kind": "top-k", "k": -1}, f"policy.k: {POSITIVE}, found -1"),
        ({"kind": "top-k", "k": "2"}, f"policy.k: {POSITIVE}, found '2'"),
        ({"kind": "top-k", "k": 2.0}, f"policy.k: {POSITIVE}, found 2.0"),
        ({"kind": "top-k", "k": True}, f"policy.k: {POSITIVE}, found true"),
        ({"kind": "top-k", "k": [1]}, f"policy.k: {POSITIVE}, found [1]"),
        ({"kind": "top-k", "k": 1, "refresh": 5}, f"policy.refresh: {DURATION}, found 5"),
        ({"kind": "top-k", "k": 1, "refresh": ""}, f"policy.refresh: {DURATION}, found ''"),
        ({"kind": "top-k", "k": 1, "period": "0s"}, f"policy.period: {DURATION}, found '0s'"),
        ({"kind": "top-k", "k": 1, "period": "-1h"}, f"policy.period: {DURATION}, found '-1h'"),
        (
            {"kind": "top-k", "k": 1, "window": "1h"},
            "policy.window: is not a field that is known here; "
            "expected only kind, k, refresh, period",
        ),
        ({"kind": "window", "k": 1}, "policy.window: is missing"),
        ({"kind": "window", "window": "1h"}, "policy.k: is missing"),
        ({"kind": "window", "k": 0, "window": "1h"}, f"policy.k: {POSITIVE}, found 0"),
        ({"kind": "window", "k": 1, "window": 0}, f"policy.window: {WINDOW}, found 0"),
        ({"kind": "window", "k": 1, "window": 1.5}, f"policy.window: {WINDOW}, found 1.5"),
        ({"kind": "window", "k": 1, "window": True}, f"policy.window: {WINDOW}, found true"),
        ({"kind": "window", "k": 1, "window": "0m"}, f"policy.window: {WINDOW}, found '0m'"),
        ({"kind": "window", "k": 1, "window": "soon"}, f"policy.window: {WINDOW}, found 'soon'"),
        ({"kind": "window", "k": 1, "window": []}, f"policy.window: {WINDOW}, found []"),
        (
            {"kind": "window", "k": 1, "window": None, "error": 1},
            "policy.error: expected a number from 0 to under 1, found 1",
        ),
        (
            {"kind": "window", "k": 1, "window": None, "error": "0"},
            "policy.error: expected a number from 0 to under 1, found '0'",
        ),
        (
            {"kind": "novelty", "rate": 0, "period": 1},
            "policy.rate: expected a number above 0, at most 1, found 0",
        ),
        (
            {"kind": "novelty", "rate": NAN, "period": 1},
            "policy.rate: expected a number above 0, at most 1, found nan",
        ),
        ({"kind": "novelty", "rate": 1, "period": 0}, f"policy.period: {POSITIVE}, found 0"),
        ({"kind": "novelty", "rate": 1, "period": "1d"}, f"policy.period: {POSITIVE}, found '1d'"),
        (
            {"kind": "novelty", "rate": 1, "period": 1, "mode": "busy"},
            "policy.mode: expected 'lazy' or 'eager', found 'busy'",
        ),
        (
            {"kind": "novelty", "rate": 1, "period": 1, "measure": 1},
            "policy.measure: expected 'rate' or 'interval', found 1",
        ),
        (
            {"kind": "novelty", "rate": 1, "period": 1, "algorithm": "best"},
            "policy.algorithm: expected 'threshold', 'sampling' or 'random', found 'best'",
        ),
        (
            {"kind": "novelty", "rate": 1, "period": 1, "aging": 2},
            f"policy.aging: {SHARE}, found 2",
        ),
        (
            {"kind": "novelty", "rate": 1, "period": 1, "seed": 1.5},
            "policy.seed: expected a whole number, found 1.5",
        ),
        ({"kind": "top-k", "k": 1, 3: 4}, "policy.3: expected a field name, found 3"),
        ({"kind": "fresh", "k": 1, "window": 5}, "policy.half_life: is missing"),
        ({"kind": "fresh", "k": 1, "half_life": "1h"}, "policy.window: is missing"),
        (
            {"kind": "fresh", "k": 1, "window": None, "half_life": 6},
            f"policy.half_life: {DURATION}, found 6",
        ),
        (
            {"kind": "fresh", "k": 1, "window": "1d", "half_life": "0h"},
            f"policy.half_life: {DURATION}, found '0h'",
        ),
        (
            {"kind": "fresh", "k": 1, "window": "1d", "half_live": "1h", "half_life": "1h"},
            "policy.half_live: is not a field that is known here; did you mean half_life?",
        ),
        ({"kind": "diverse", "k": 1, "window": None}, "policy.over: is missing"),
        (diverse(over=None), "policy.over: is missing"),
        (diverse(over=["rent"]), "policy.over: expected an object, found ['rent']"),
        (diverse(over={}), "policy.over: expected at least one attribute, found {}"),
        (diverse(over={"rent": 0}), f"policy.over.rent: {SCALE}, found 0"),
        (diverse(over={"rent": float("inf")}), f"policy.over.rent: {SCALE}, found inf"),
        (diverse(over={"rent": "far"}), f"policy.over.rent: {SCALE}, found 'far'"),
        (diverse(over={"rent": True}), f"policy.over.rent: {SCALE}, found true"),
        (diverse(over={"a.b": None, "1st": 2}), f"policy.over.'1st': {ATTRIBUTE}, found '1st'"),
        (diverse(over={3: 4}), f"policy.over.3: {ATTRIBUTE}, found 3"),
        (
            diverse(over={"event.time": 1}),
            f"policy.over.'event.time': {ATTRIBUTE}, found 'event.time'",
        ),
        (
            diverse(over={"rent": 1, '"rent"': 2}),
            'policy.over: expected every attribute once, found {rent: 1, "rent": 2}',
        ),
        (diverse(weight=1), "policy.weight: expected a number from 0 to under 1, found 1"),
        (diverse(weight=-0.1), "policy.weight: expected a number from 0 to under 1, found -0.1"),
        ([], "policy: expected at least one policy, found []"),
        (["top-k"], f"policy[0]: {POLICY}, found 'top-k'"),
        ([None], f"policy[0]: {POLICY}, found null"),
        ([{}], f"policy[0].kind: is missing; expected one of {KINDS}"),
        ([TOP, {"kind": "best"}], f"policy[1].kind: expected one of {KINDS}, found 'best'"),
        ([TOP, {"kind": "top-k", "k": 0}], f"policy[1].k: {POSITIVE}, found 0"),
        ([TOP, [TOP]], f"policy[1]: {POLICY}, found [{{kind: 'top-k', k: 1}}]"),
        (
            [TOP, {"kind": "top-k", "k": 1, "refesh": "1h"}],
            "policy[1].refesh: is not a field that is known here; did you mean refresh?",
        ),
        ([diverse(over={"rent": -1}), TOP], f"policy[0].over.rent: {SCALE}, found -1"),
    ],
)
def test_policy(policy, problem):
    assert of_subscription(policy=policy) == [f"subscription 's': {problem}"]
    assert of_shortlist(policy=policy) == [f"shortlist 'l': {problem}"]


def test_every_policy_of_a_chain_at_once():
    found = of_shortlist(policy=[{"kind": "top-k"}, TOP, {"kind": "novelty", "rate": 2}, 5])
    assert [line.split(": ")[1] for line in found] == [
        "policy[0].k",
        "policy[2].rate",
        "policy[2].period",
        "policy[3]",
    ]


def test_every_field_of_a_policy_at_once():
    found = of_shortlist(policy={"kind": "novelty", "rate": 2, "mode": 5, "k": 1})
    assert [line.split(": ")[1] for line in found] == [
        "policy.rate",
        "policy.period",
        "policy.mode",
        "policy.k",
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"id": ""}, f"shortlist '': id: {NOT_EMPTY}, found ''"),
        ({"id": 5}, f"shortlist 5: id: {NOT_EMPTY}, found 5"),
        ({"id": None}, "shortlist #1: id: is missing"),
        ({"id": ["l"]}, f"shortlist #1: id: {NOT_EMPTY}, found ['l']"),
        ({"id": "\ud800"}, f"shortlist '\\ud800': id: {NOT_EMPTY}, found '\\ud800'"),
        ({"subscriber": None}, "shortlist 'l': subscriber: is missing"),
        ({"subscriber": ""}, f"shortlist 'l': subscriber: {NOT_EMPTY}, found ''"),
        ({"subscriber": True}, f"shortlist 'l': subscriber: {NOT_EMPTY}, found true"),
        ({"combine": "avg"}, f"shortlist 'l': combine: {COMBINES}, found 'avg'"),
        ({"combine": 5}, f"shortlist 'l': combine: {COMBINES}, found 5"),
        ({"prefers": "ab"}, "shortlist 'l': prefers: expected a list, found 'ab'"),
        ({"prefers": {"a": "b"}}, "shortlist 'l': prefers: expected a list, found {a: 'b'}"),
        (
            {"prefers": [["a", "b"], ["c"]]},
            "shortlist 'l': prefers.1: expected a pair of two subscription ids, "
            "the better one first, found ['c']",
        ),
        (
            {"prefers": [["a", "b", "c"]]},
            "shortlist 'l': prefers.0: expected a pair of two subscription ids, "
            "the better one first, found ['a', 'b', 'c']",
        ),
        (
            {"prefers": [["a", ""]]},
            "shortlist 'l': prefers.0: expected a pair of two subscription ids, "
            "the better one first, found ['a', '']",
        ),
        ({"prefers": [["a", "a"]]}, "shortlist 'l': prefers: expected no cycle, found 'a' > 'a'"),
        (
            {"prefers": [["b", "c"], ["x", "y"], ["c", "a"], ["a", "b"]]},
            "shortlist 'l': prefers: expected no cycle, found 'a' > 'b' > 'c' > 'a'",
        ),
        (
            {"where": "rent < 5"},
            "shortlist 'l': where: is not a field that is known here; "
            "expected only id, subscriber, policy, combine, prefers",
        ),
    ],
)
def test_shortlist(fields, problem):
    assert of_shortlist(**fields) == [problem]


@pytest.mark.parametrize("name", ["policy", "combine", "prefers"])
def test_null_is_absent_in_a_shortlist(name):
    assert of_shortlist(**{name: None}) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"where": 5}, "where: expected text, found 5"),
        ({"where": ["rent < 5"]}, "where: expected text, found ['rent < 5']"),
        ({"where": ""}, "where: column 1: expected a condition, found the end of the text"),
        (
            {"where": "rent is cheap"},
            "where: column 9: 'cheap' is not a term of 'rent'; the vocabulary gives it none",
        ),
        ({"score": 5}, f"score: {INTEREST}, found 5"),
        ({"score": -0.1}, f"score: {INTEREST}, found -0.1"),
        ({"score": "5"}, f"score: {INTEREST}, found 5"),
        ({"score": "-1"}, f"score: {INTEREST}, found -1"),
        ({"score": "(2)"}, f"score: {INTEREST}, found 2"),
        ({"score": True}, f"score: {SCORE}, found true"),
        ({"score": NAN}, f"score: {SCORE}, found nan"),
        ({"score": HUGE}, f"score: {SCORE}, found 1{'0' * 58}…"),
        ({"score": ["rent"]}, f"score: {SCORE}, found ['rent']"),
        ({"score": {}}, f"score: {SCORE}, found {{}}"),
        ({"score": "\ud800"}, f"score: {SCORE}, found '\\ud800'"),
        (
            {"score": "rent +"},
            "score: column 7: expected a number, an attribute, a function or '(' after '+', "
            "found the end of the text",
        ),
        ({"weight": 0}, "weight: expected a number above 0, found 0"),
        ({"weight": -1}, "weight: expected a number above 0, found -1"),
        ({"weight": "1"}, "weight: expected a number above 0, found '1'"),
        ({"weight": INFINITE}, "weight: expected a number above 0, found inf"),
        ({"weight": True}, "weight: expected a number above 0, found true"),
        ({"weight": HUGE}, f"weight: expected a number above 0, found 1{'0' * 58}…"),
        ({"norm": "sum"}, f"norm: {NORM}, found 'sum'"),
        ({"norm": 5}, f"norm: {NORM}, found 5"),
        ({"norm": []}, f"norm: {NORM}, found []"),
        ({"norm": {}}, f"norm: {NORM}, found {{}}"),
        ({"norm": {"weights": []}}, f"norm: {NORM}, found {{weights: []}}"),
        ({"norm": {"weights": [0, 0]}}, f"norm: {NORM}, found {{weights: [0, 0]}}"),
        ({"norm": {"weights": [1, -1]}}, f"norm: {NORM}, found {{weights: [1, -1]}}"),
        ({"norm": {"weights": [1, "1"]}}, f"norm: {NORM}, found {{weights: [1, '1']}}"),
        ({"norm": {"weights": [True]}}, f"norm: {NORM}, found {{weights: [true]}}"),
        ({"norm": {"weights": "11"}}, f"norm: {NORM}, found {{weights: '11'}}"),
        ({"norm": {"weights": [1], "x": 1}}, f"norm: {NORM}, found {{weights: [1], x: 1}}"),
        (
            {"norm": {"weights": [1, 1]}},
            "norm: expected a flat conjunction of predicates as `where`, which weights need",
        ),
        (
            {"where": "a = 1 or b = 1", "norm": {"weights": [1, 1]}},
            "norm: expected a flat conjunction of predicates as `where`, which weights need",
        ),
        (
            {"where": "a = 1 and (b = 1 and c = 1)", "norm": {"weights": [1, 1]}},
            "norm: expected a flat conjunction of predicates as `where`, which weights need",
        ),
        (
            {"where": "a = 1 and b = 1", "norm": {"weights": [1, 1, 1]}},
            "norm: expected 2 weights, one for each predicate, found 3",
        ),
        (
            {"where": "a = 1", "norm": {"weights": [1, 1]}},
            "norm: expected 1 weights, one for each predicate, found 2",
        ),
        ({"at_least": 0.5}, "at_least: expected an object, found 0.5"),
        ({"at_least": {"possibility": 2}}, f"at_least.possibility: {SHARE}, found 2"),
        ({"at_least": {"possibility": NAN}}, f"at_least.possibility: {SHARE}, found nan"),
        ({"at_least": {"necessity": "1"}}, f"at_least.necessity: {SHARE}, found '1'"),
        ({"at_least": {"score": "1"}}, "at_least.score: expected a number, found '1'"),
        ({"at_least": {"score": INFINITE}}, "at_least.score: expected a number, found inf"),
        (
            {"at_least": {"scores": 1}},
            "at_least.scores: is not a field that is known here; did you mean score?",
        ),
        ({"refresh": 60}, f"refresh: {DURATION}, found 60"),
        ({"refresh": "soon"}, f"refresh: {DURATION}, found 'soon'"),
        ({"refresh": "P"}, f"refresh: {DURATION}, found 'P'"),
        ({"profile": [1]}, "profile: expected an object, found [1]"),
        ({"profile": {"age": "40"}}, "profile.age: expected a number, found '40'"),
        ({"profile": {"age": True}}, "profile.age: expected a number, found true"),
        ({"profile": {5: 1}}, "profile.5: expected text, found 5"),
        ({"subscriber": ""}, f"subscriber: {NOT_EMPTY}, found ''"),
        ({"combine": "avg"}, f"combine: {COMBINES}, found 'avg'"),
        ({"shortlist": ""}, f"shortlist: {NOT_EMPTY}, found ''"),
        ({"shortlist": 5}, f"shortlist: {NOT_EMPTY}, found 5"),
        ({"wieght": 1}, "wieght: is not a field that is known here; did you mean weight?"),
    ],
)
def test_subscription(fields, problem):
    assert of_subscription(**fields) == [f"subscription 's': {problem}"]


@pytest.mark.parametrize(
    "name",
    [
        "shortlist",
        "where",
        "score",
        "weight",
        "norm",
        "at_least",
        "refresh",
        "profile",
        "subscriber",
        "policy",
        "combine",
    ],
)
def test_null_is_absent_in_a_subscription(name):
    assert of_subscription(**{name: None}) == []


@pytest.mark.parametrize("name", ["subscriber", "policy", "combine"])
def test_what_belongs_to_the_shortlist_that_is_named(name):
    value = {"policy": {"kind": "everything"}}.get(name, "max")
    found = problems(
        shortlists=[{"id": "l", "subscriber": "anna"}],
        subscriptions=[{"id": "s", "shortlist": "l", name: value}],
    )
    assert found == [
        f"subscription 's': {name}: expected none, since the shortlist 'l' has its own"
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"source": None}, "source: is missing"),
        ({"source": ""}, f"source: {NOT_EMPTY}, found ''"),
        ({"k": None}, "k: is missing"),
        ({"k": -1}, f"k: {AUDIENCE}, found -1"),
        ({"k": 2**31}, f"k: {AUDIENCE}, found 2147483648"),
        ({"k": 1.5}, f"k: {AUDIENCE}, found 1.5"),
        ({"k": "1"}, f"k: {AUDIENCE}, found '1'"),
        ({"where": 5}, "where: expected text, found 5"),
        ({"score": []}, f"score: {SCORE}, found []"),
        ({"scor": "1"}, "scor: is not a field that is known here; did you mean score?"),
    ],
)
def test_advertisement(fields, problem):
    assert of_advertisement(**fields) == [f"advertisement 'a': {problem}"]


def test_expressions_of_an_advertisement_point_at_their_column():
    found = of_advertisement(where="rent <", score="subscription.age")
    assert found[0].startswith("advertisement 'a': where: column 7: expected a value")
    assert found[1].startswith("advertisement 'a': score: column 1: expected subscription.score")


def test_an_advertisement_may_rank_by_any_number_and_reach_nobody():
    assert of_advertisement(score=-5, k=0, where=None) == []


def test_a_broken_field_does_not_hide_the_others():
    found = of_subscription(where="rent <", weight=0, score="((", policy={"kind": "x"}, id="s")
    assert [line.split(": ")[1] for line in found] == ["weight", "policy.kind", "where", "score"]
    found = of_attribute(
        {"terms": {"a": {"shape": "round"}, "b": {"trapezoid": [4, 3, 2, 1]}, "c": {}}, "many": 1}
    )
    assert [line.split(": ")[1] for line in found] == [
        "many",
        "terms.a.shape",
        "terms.b",
        "terms.c",
    ]
    found = problems(shortlists=[{"prefers": [["a", "a"]]}], advertisements=[{"where": "("}])
    assert [line.split(": ")[:2] for line in found] == [
        ["shortlist #1", "id"],
        ["shortlist #1", "subscriber"],
        ["shortlist #1", "prefers"],
        ["advertisement #1", "id"],
        ["advertisement #1", "source"],
        ["advertisement #1", "k"],
        ["advertisement #1", "where"],
    ]


def test_weights_are_not_judged_beside_a_condition_that_cannot_be_read():
    for where in (5, "rent <"):
        found = of_subscription(where=where, norm={"weights": [1, 1]})
        assert len(found) == 1
        assert found[0].startswith("subscription 's': where: ")


def test_terms_of_a_broken_vocabulary_are_not_reported_missing():
    subscriptions = [{"id": "s", "where": "rent is cheap and released > '2026-03-01'"}]
    broken = {"type": "number", "terms": {"cheap": {"trapezoid": [1]}}}
    vocabulary = {"rent": broken, "released": {"type": "time", "many": 5}}
    found = problems(vocabulary=vocabulary, subscriptions=subscriptions)
    assert [line.split(": ")[0] for line in found] == ["attribute 'rent'", "attribute 'released'"]
    found = problems(vocabulary=[], subscriptions=subscriptions)
    assert found == ["vocabulary: expected a mapping of attribute names to declarations, found []"]


@pytest.mark.parametrize("entry", [5, None, "s", [], True])
def test_entries_that_are_not_objects(entry):
    for kind in ("shortlist", "subscription", "advertisement"):
        (line,) = problems(**{f"{kind}s": [entry]})
        assert line.startswith(f"{kind} #1: expected an object, found ")


def test_parts_of_a_registry():
    keys = "vocabulary, shortlists, subscriptions, advertisements"
    found = problems(subscriptions={}, shortlists=5, subscription=[])
    assert found == [
        f"subscription: is not a key of a registry; expected one of {keys}",
        "shortlists: expected a list, found 5",
        "subscriptions: expected a list, found {}",
    ]
    nothing = dict.fromkeys(keys.split(", "))
    assert problems(**nothing) == []


def test_values_of_any_size_make_one_short_line():
    lists = ["x"]
    for _ in range(60):
        lists = [lists, lists, lists]
    holds_itself: list = []
    holds_itself.append(holds_itself)
    for value in (lists, holds_itself, "\n" * 10**6, {"a\nb": lists}, 1 << 20_000, b"\0" * 10**6):
        for field in ("where", "score", "weight", "norm", "policy", "profile", "id", "a\nb"):
            for line in of_subscription(**{field: value}):
                assert len(line) < 300
                assert line.isprintable()
