"""The pages are executed: what they show is what happens."""

import doctest
import os
import re
import runpy
import shlex
import subprocess
import sys
import textwrap
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from shortlist.cli.app import app
from tests.docs.pages import PAGES, ROOT, Block, anchors, blocks, links, page_name
from tests.docs.tables import drawn, entries, result_of

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FILES = ("yaml", "json", "jsonl")
STORY = (*FILES, "python", "console", "sh", "text")
PLAIN = re.compile(
    r"(?:echo '(?P<input>[^']*)' \| )?(?:\.venv/bin/)?shortlist (?P<words>[^|&;<>$`]+)"
)
"""A command that asks nothing of a shell but to hand over a line."""
STARTS_SPARK = re.compile(
    r"shortlist (?:run|up)\b(?!.* --on process)|local_session|shortlist\.rank"
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NAMES = [page_name(page) for page in PAGES]
TABLES = [block for page in PAGES for block in blocks(page, "where", "score")]
DRAWINGS = [block for page in PAGES for block in blocks(page, "timeline")]
STORIES = [page for page in PAGES if any(blocks(page, "python", "console", "sh"))]


def places(found: list[Block]) -> list[str]:
    return [block.place for block in found]


def marked(values: list[Path], texts: list[str]) -> list:
    """Those that start Spark, or share a session, say so in their names, too."""
    return [
        pytest.param(value, id=f"{page_name(value)}-spark", marks=pytest.mark.spark)
        if STARTS_SPARK.search(text)
        else pytest.param(value, id=page_name(value))
        for value, text in zip(values, texts, strict=True)
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that looks as if Shortlist had been set up in it."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def said(command: str) -> str:
    """All that a shell command prints, its exit status included where that is not 0.

    The program itself runs in this process, which has imported already what it needs; with pipes,
    in the background and among other commands it has one of its own.
    """
    plain = PLAIN.fullmatch(command.strip())
    printed, status = in_a_shell(command) if plain is None else here(plain["words"], plain["input"])
    return printed if status == 0 else f"{printed}(exit status {status})\n"


def here(words: str, text: str | None) -> tuple[str, int]:
    done = CliRunner().invoke(
        app, shlex.split(words), input=text, catch_exceptions=False, prog_name="shortlist"
    )
    return done.output, done.exit_code


def in_a_shell(command: str) -> tuple[str, int]:
    answer = subprocess.run(
        ["bash", "-e", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return answer.stdout, answer.returncode


def same(expected: str, found: str, place: str) -> None:
    if not doctest.OutputChecker().check_output(expected, found, FLAGS):
        pytest.fail(f"{place}: expected\n{expected}\nfound\n{found}", pytrace=False)


class Story:
    """A page's files, commands and programs, one after the other in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {}
        self.last: str | None = None

    def tell(self, block: Block) -> None:
        if block.language in FILES:
            if block.name is not None:
                (self.folder / block.name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            self._console(block)
        elif block.language == "sh" and not block.text.startswith(("make", "git", "uv")):
            self.last = said(block.text)
        elif block.language == "text" and block.name == "output":
            assert self.last is not None, f"{block.place}: nothing was run before"
            same(block.text, self.last, block.place)

    def _python(self, block: Block) -> None:
        if ">>>" not in block.text:
            exec(compile(block.text, block.place, "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, block.place, str(block.page), block.line
        )
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=report.append, clear_globs=False)
        self.names.update(test.globs)
        if runner.failures:
            pytest.fail("".join(report), pytrace=False)

    def _console(self, block: Block) -> None:
        for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            same(expected, said(command), block.place)


@pytest.mark.parametrize(
    "page", marked(STORIES, ["".join(b.text for b in blocks(p, *STORY)) for p in STORIES])
)
def test_story(page, folder, request):
    if any("local_session" in block.text for block in blocks(page, "python")):
        request.getfixturevalue("spark")
    story = Story(folder)
    for block in blocks(page, *STORY):
        story.tell(block)


@pytest.mark.parametrize("block", TABLES, ids=places(TABLES))
def test_table(block):
    vocabularies = [
        found for found in blocks(block.page, "yaml") if found.name == "vocabulary.yaml"
    ]
    vocabulary = yaml.safe_load(vocabularies[0].text) if vocabularies else None
    for entry in entries(block.text):
        found = result_of(entry, block.language, vocabulary)
        assert (entry.expression, found) == (entry.expression, entry.expected)


@pytest.mark.parametrize("block", DRAWINGS, ids=places(DRAWINGS))
def test_drawing(block):
    expected, found = drawn(block.text)
    assert found == expected


@pytest.mark.parametrize(
    "example", marked(EXAMPLES, [example.read_text(encoding="utf-8") for example in EXAMPLES])
)
def test_example(example, folder, request, monkeypatch):
    """An example prints what its own docstring says that it prints."""
    if "local_session" in example.read_text(encoding="utf-8"):
        shared = request.getfixturevalue("spark")
        monkeypatch.setattr(type(shared), "stop", lambda session: None)  # others need it
    with redirect_stdout(StringIO()) as printed:
        runpy.run_path(str(example), run_name="__main__")
    same(shown_by(example), printed.getvalue(), example.name)


def test_an_example_is_a_program(folder):
    example = ROOT / "examples" / "rentals.py"
    same(shown_by(example), said(f"python {example}"), example.name)


def shown_by(example: Path) -> str:
    shown = re.search(r"It prints:\n\n(.*?)\"{3}", example.read_text(encoding="utf-8"), re.DOTALL)
    assert shown, "the docstring has to show what the example prints"
    return textwrap.dedent(shown[1])


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links(page):
    for target in links(page):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(file), f"{target} names no heading"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_blocks_are_of_a_kind_that_is_checked(page):
    known = {*STORY, "where", "score", "timeline"}
    assert {block.language for block in blocks(page)} <= known


def test_make_has_every_target_that_pages_name():
    targets = set(re.findall(r"^([a-z.]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8")))
        assert named <= targets, page_name(page)


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            files = (target.partition("#")[0] for target in links(page) if "://" not in target)
            waiting += [(page.parent / file).resolve() for file in files if file]
    assert set(PAGES) <= reached


def test_pages_name_no_place_of_one_machine():
    foreign = re.compile(r"(?<![\w.<>])/(?:home|root|tmp|Users|usr)/")
    for file in [*PAGES, *EXAMPLES]:
        assert not foreign.search(file.read_text(encoding="utf-8")), file.name
