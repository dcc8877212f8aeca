"""A registry that was compiled once and is checked in, with what it answered then.

    python -m tests.engine.stored_registry

compiles `stored/registry.json` anew, in place of what is there, with what it delivers of
`stored/publications.jsonl`. Run it after `FORMAT` or `MEANING` of `matching/index/storage.py` was
raised, and look at what changed in `stored/deliveries.jsonl`.
"""

import json
from pathlib import Path

from shortlist.engine.admission import Admission
from shortlist.engine.compiled import joining, opened, opened_admission
from shortlist.engine.shard import Shard
from shortlist.intake.files import read_registry
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.intake.written import registry_document
from shortlist.matching.index.storage import in_memory, open_parts, save_parts
from shortlist.model.items import Wanted
from shortlist.model.settings import Limits, Settings

STORED = Path(__file__).with_name("stored")
SETTINGS = Settings(lateness=0)
FIELDS = (
    *("time", "shortlist", "publication", "subscription", "cause"),
    *("rank", "score", "possibility", "necessity"),
)


def source():
    return read_registry(STORED / "registry.json")


def compiled_now():
    """The parts of a shard and of an admission, as they are compiled today."""
    made = joining(registry_document(source()), Limits())
    return {"shard": made.shard(), "admission": made.admission()}


def stored(name):
    """The parts as they were stored; raises `UnusableIndex` where their version is another."""
    return open_parts(STORED / name)[1]


def opened_now(shard, admission):
    """An admission and a shard with these parts."""
    return opened_admission(admission, SETTINGS), opened(shard, Limits())


def made_now():
    """An admission and a shard of the registry itself."""
    registry = source()
    return Admission(registry, SETTINGS), Shard(registry, SETTINGS.limits)


def delivered(admission, shard):
    """What a shard delivers of the publications, a line each; numbers to nine digits, since the
    last ones are another processor's."""
    reader = ItemReader(admission.vocabulary)
    lines = (STORED / "publications.jsonl").read_text().splitlines()
    items = [reader.line(line, position) for position, line in enumerate(lines, start=1)]
    found = []
    wanted = admission.wanted.joined(Wanted(data=True))
    for batch in (items[:20], items[20:], []):
        taken = admission.admit(*items_of(batch, wanted), not batch)
        for placed in shard.run(taken.items, taken.commands, until=taken.until):
            found += shard.deliveries(placed).to_pylist()
    return [
        json.dumps([_short(each[name]) for name in FIELDS], ensure_ascii=False) for each in found
    ]


def _short(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def store():
    parts = compiled_now()
    for name, each in parts.items():
        save_parts(STORED / name, None, each)
    lines = delivered(*opened_now(**{name: in_memory(each) for name, each in parts.items()}))
    (STORED / "deliveries.jsonl").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    store()
