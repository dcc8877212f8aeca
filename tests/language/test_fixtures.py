"""The language as text: see tests/fixtures/language/where.txt for the format."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score, parse_where
from shortlist.language.printer import print_score, print_where
from shortlist.model.paths import parse_path
from shortlist.model.vocabulary import Attribute, Term, Vocabulary

FOLDER = Path(__file__).parents[1] / "fixtures" / "language"
Canonical = Callable[[str, Vocabulary], str]

LANGUAGES: dict[str, Canonical] = {
    "where": lambda text, vocabulary: print_where(parse_where(text, vocabulary)),
    "score": lambda text, vocabulary: print_score(parse_any_score(text)),
    "audience": lambda text, vocabulary: print_score(parse_audience_score(text)),
}


class Case(NamedTuple):
    place: str
    canonical: Canonical
    vocabulary: Vocabulary
    text: str
    expected: str


def declaration(line: str) -> tuple[tuple[str, ...], Attribute]:
    name, _, words = line.partition(":")
    if words.strip() == "time":
        return parse_path(name.strip()), Attribute(type="time")
    terms = {word.strip(): Term(trapezoid=(0, 1, 2, 3)) for word in words.split(",")}
    return parse_path(name.strip()), Attribute(terms=terms)


def read_cases(file: Path) -> Iterator[Case]:
    canonical = LANGUAGES[file.stem.partition("_")[0]]
    vocabulary, text = Vocabulary(), ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@ "):
            vocabulary = Vocabulary(dict([*vocabulary.attributes.items(), declaration(line[2:])]))
        elif line.startswith(("=> ", "!! ")):
            yield Case(f"{file.name}:{number}", canonical, vocabulary, text, line)
        else:
            text = line


CASES = [case for file in sorted(FOLDER.glob("*.txt")) for case in read_cases(file)]


@pytest.mark.parametrize("case", CASES, ids=[case.place for case in CASES])
def test_case(case: Case) -> None:
    if case.expected.startswith("=> "):
        canonical = case.canonical(case.text, case.vocabulary)
        assert f"=> {canonical}" == case.expected
        assert case.canonical(canonical, case.vocabulary) == canonical
    else:
        with pytest.raises(LanguageError) as caught:
            case.canonical(case.text, case.vocabulary)
        assert f"!! {caught.value.column}: {caught.value.message}" == case.expected


def test_every_language_has_cases() -> None:
    assert {case.canonical for case in CASES} == set(LANGUAGES.values())
    assert len(CASES) > 150
