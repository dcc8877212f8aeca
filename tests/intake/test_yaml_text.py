"""What YAML may say: aliases as people use them, and no more of them than fits."""

import pytest

from shortlist.intake import yaml_text
from shortlist.intake.files import read_registry
from shortlist.intake.yaml_text import MOST_REPEATED, NotYaml, parse_yaml
from shortlist.model.problem import InvalidRegistry
from shortlist.model.wording import TOO_LONG

LINES = 26


def doubled(form: str) -> str:
    """Each line names the one before twice: 2^25 values in less than a kilobyte."""
    lines = ["x0: &x0 {a: 1}"]
    lines += [f"x{at}: &x{at} {form.replace('*x', f'*x{at - 1}')}" for at in range(1, LINES)]
    return "\n".join(lines)


@pytest.mark.parametrize("form", ["[*x, *x]", "{<<: [*x, *x]}", "{b: *x, c: *x}", "[[*x], *x]"])
def test_aliases_that_double_are_told_at_the_line_that_goes_too_far(monkeypatch, form):
    built = []
    for loader in (yaml_text._Loader, yaml_text._FastLoader):
        monkeypatch.setattr(loader, "construct_document", built.append)
    with pytest.raises(NotYaml) as refused:
        parse_yaml(doubled(form))
    line, _, problem = str(refused.value).partition(", ")
    assert line in {"line 17", "line 18", "line 19", "line 20"}
    assert problem.endswith(f"expected aliases that repeat at most {MOST_REPEATED} values")
    assert not built


def test_a_registry_with_such_aliases_is_told_with_its_file(tmp_path):
    file = tmp_path / "r.yaml"
    text = doubled("[*x, *x]") + "\nsubscriptions:\n- {id: s, policy: *x25}\n"
    file.write_text(text)
    with pytest.raises(InvalidRegistry, match=r"^r.yaml: not YAML: line \d+, column \d+: expected"):
        read_registry(file)


def test_aliases_as_people_use_them():
    text = """
terms: &terms {cheap: {trapezoid: [null, null, 1, 2]}}
base: &base {kind: top-k, k: 3}
attributes: {rent: {type: number, terms: *terms}, fee: {type: number, terms: *terms}}
policies: [*base, {<<: *base, k: 5}, &two {<<: [*base, {refresh: 1h}], k: 7}, *two]
"""
    found = parse_yaml(text)
    assert found["attributes"]["rent"] == found["attributes"]["fee"]
    assert [policy["k"] for policy in found["policies"]] == [3, 5, 7, 7]
    assert found["policies"][3] == {"kind": "top-k", "k": 7, "refresh": "1h"}


def test_a_large_file_may_repeat_in_proportion(monkeypatch):
    monkeypatch.setattr(yaml_text, "MOST_REPEATED", 100)
    shared = "base: &base {kind: top-k, k: 3}\n"
    some = [f"- {{id: s{at}, policy: *base}}" for at in range(500)]
    assert len(parse_yaml(shared + "some:\n" + "\n".join(some))["some"]) == 500
    often = ", ".join(["*base"] * 500)
    with pytest.raises(NotYaml, match="line 2, column"):
        parse_yaml(f"base: &base [{', '.join('1' * 50)}]\nsome: [{often}]")


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a [*a, *a]", "&a {b: [*a]}"])
def test_what_holds_itself_is_refused(text):
    with pytest.raises(NotYaml):
        parse_yaml(text)


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    "digits", ["9" * 4301, "0x" + "f" * 3600, "0" + "7" * 5000, "0b" + "1" * 20_000, "9" * 10**5]
)
def test_whole_numbers_of_too_many_digits(sign, digits):
    assert parse_yaml(f"a: {sign}{digits}") == {"a": TOO_LONG}


def test_whole_numbers_of_many_digits():
    assert parse_yaml("a: " + "9" * 4300) == {"a": 10**4300 - 1}
    assert parse_yaml("a: 0x" + "f" * 3000) == {"a": 16**3000 - 1}
