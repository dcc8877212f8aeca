"""A shard's registry compiled once, as what `matching/index/storage.py` can save and open."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from shortlist.engine.admission import Admission
from shortlist.engine.joining import Joining
from shortlist.engine.pieces import PieceCompiler
from shortlist.engine.shard import Shard
from shortlist.intake.columns import RegistryColumns, saved_columns
from shortlist.intake.cutting import AT_ONCE
from shortlist.intake.documents import Documents
from shortlist.intake.entries import EntryReader
from shortlist.intake.files import registry_read_again
from shortlist.intake.given import Given
from shortlist.matching.index.storage import Parts
from shortlist.model.settings import Limits, Settings


def joining(document: Mapping[str, Any], limits: Limits, at_once: int = AT_ONCE) -> Joining:
    """A registry that was read before from such a document, compiled in pieces."""
    limits = limits.for_what_was_read()
    rest = registry_read_again({**document, "subscriptions": ()})
    reader = EntryReader(Documents(rest.vocabulary, limits))
    compiler = PieceCompiler(rest.vocabulary, limits)
    given = iter(document.get("subscriptions") or ())

    def pieces() -> Iterator[Parts]:
        while some := [*islice(given, at_once)]:
            read = reader.read(Given.of_documents(some), lambda row: ("a state", None))
            assert not read.problems, read.problems[0][1]
            yield {**compiler.piece(read), "mentions": compiler.mentions(read)}

    return Joining(rest, [*pieces()], limits)


def compiled(shard: Shard) -> Parts:
    """What it takes to open shards that have the same registry, and have seen nothing yet.

    >>> from shortlist.intake.files import registry_from_documents
    >>> flats = [{"id": "s1", "where": "rent < 900"}, {"id": "s2", "where": "rent < 800"}]
    >>> shard = Shard(registry_from_documents({"subscriptions": flats}), Limits())
    >>> again = opened(compiled(shard), Limits())
    >>> again.matching.roster.subscriptions["s2"].where, again.matching.number("s2")
    ('rent < 800', 1)
    """
    saved = shard.matching.saved()
    numbered = saved["shortlists"], saved["numbered"]["numbers"]
    return {"columns": saved_columns(shard.matching.roster, *numbered), "matching": saved}


def opened(parts: Parts, limits: Limits, *, finds: bool = True) -> Shard:
    """A shard out of compiled parts; what of them it changes is in this process only."""
    columns = RegistryColumns(parts["columns"])
    return Shard(columns.rest, limits, finds=finds, columns=columns, saved=parts["matching"])


def opened_admission(parts: Parts, settings: Settings) -> Admission:
    """An admission out of compiled parts."""
    columns = RegistryColumns(parts["columns"])
    return Admission(columns.rest, settings, columns=columns, mentions=parts["mentions"])
