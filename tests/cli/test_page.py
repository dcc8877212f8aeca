"""docs/commands.md names every command of the program and no other."""

import re
from pathlib import Path

from shortlist.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_names_every_command():
    text = PAGE.read_text(encoding="utf-8")
    tables = text[: text.index("\n## ")]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`([\w-]+)`", row)]
    known = [one.name or one.callback.__name__ for one in app.registered_commands]
    assert sorted(named) == sorted(known)
