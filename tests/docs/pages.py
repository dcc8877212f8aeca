"""What stands on the pages: fenced blocks, links and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")],
    key=lambda page: page.relative_to(ROOT).as_posix(),
)
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block; `name` is the second word behind the fence, such as a file's name."""

    page: Path
    line: int
    language: str
    name: str | None
    text: str

    @property
    def place(self) -> str:
        return f"{page_name(self.page)}:{self.line}"


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """The blocks of a page in these languages, or all of them."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        language, _, name = found["info"].partition(" ")
        if not languages or language in languages:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(page, line, language, name or None, found["text"])


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    return [found["target"] for found in LINK.finditer(prose(page))]


def anchors(page: Path) -> set[str]:
    """What links may point at within a page, as GitHub names headings."""
    titles = [found["title"] for found in HEADING.finditer(prose(page))]
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
