"""The whole state of a deployment in one file: with a digest, and used only if all of it is right.

A zip archive whose members are stored as they are; its comment says the version, and the SHA-256 of
all that stands before it. The digest finds damage, and no forger: `read_savepoint` trusts nothing,
neither names, nor sizes, nor what a manifest refers to, nor tables, nor how much it unpacks to.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from shortlist.engine.admitted import ACCEPTED
from shortlist.engine.saved import UnusableState
from shortlist.engine.saved_tables import check_tables
from shortlist.engine.strangers import UnreadableBytes, bound_of, read_stream
from shortlist.intake.lines import ItemReader
from shortlist.live.files import Files
from shortlist.live.manifest import Chain, Manifest, Output, Piece
from shortlist.live.registers import MANIFEST, committed, has_deployment
from shortlist.live.states import read_state
from shortlist.live.tables import COMMANDS, ENTRIES, QUARANTINE, WAITING, table_of, to_bytes
from shortlist.log.base import DELIVERIES, DEPARTURES, HANDOVERS, INPUT, REJECTS, Log, Moved
from shortlist.log.durable import open_private, write_whole
from shortlist.model.problem import ShortlistError
from shortlist.model.publication import Publication
from shortlist.model.settings import UNLIMITED
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import first_line, shown

FORMAT, VERSION = "shortlist savepoint", 1
DIGITS = 64
ENDING = re.compile(rb"shortlist savepoint (?P<version>\d{1,9}) (?P<digest>[0-9a-f]{64})\Z")
LONGEST_ENDING = 128
DESCRIPTION, UNREAD, FOLDER = "manifest.json", "unread.arrow", "files/"
FILE_NAME = re.compile(r"[a-z]+-(\d{1,18}-)?[0-9a-f]{32}")
END_OF_TABLE = b"\xff\xff\xff\xff\0\0\0\0"
MOST_SHARDS = 256


class UnusableSavepoint(ShortlistError, ValueError):
    """A file that is not a savepoint, or not a whole one."""


class NotPutOut(ShortlistError):
    """A deployment whose last batch is not carried out, or not in its log, with all that it has."""


def export(log: Log, files: Files, target: Path) -> int:
    """Write everything that another log or cluster needs to go on.

    Return how many entries of the input were not read yet, which are written too. Raise `NotPutOut`
    where pieces of a micro-batch are left, or output that is not in the log.
    """
    _, manifest = committed(log)
    if manifest.pending:
        # their items are in no log, so that they cannot be written as unread entries
        raise NotPutOut(
            "expected a micro-batch that is carried out, found one of which"
            f" {len(manifest.pending):,} pieces are left: let the stream go on until they are, too"
        )
    _check_output(log, manifest)
    unread = [(entry.content,) for entry in log.read(INPUT, manifest.position - manifest.base)]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(DESCRIPTION, manifest.to_bytes())
        archive.writestr(UNREAD, to_bytes(table_of(unread, ENTRIES)))
        for name in sorted({*manifest.state_files}):
            archive.writestr(f"{FOLDER}{name}", files.read(name))
        archive.comment = f"{FORMAT} {VERSION} {'0' * DIGITS}".encode()
    digest = sha256(content.getbuffer()[:-DIGITS]).hexdigest()
    content.seek(-DIGITS, io.SEEK_END)
    content.write(digest.encode())
    write_whole(target, content.getbuffer(), open_private)
    return len(unread)


def restore(source: Path, log: Log, files: Files) -> Manifest:
    """Begins a deployment with what was exported; the log must have none, and no input.

    Positions go on where they were, and the streams of the new log start with nothing.
    """
    if has_deployment(log):
        raise Moved("expected a log without a deployment, found one with")
    manifest, kept, unread = read_savepoint(source)
    there = _check_target(log, unread)
    names: dict[str, str] = {}
    try:
        for name, content in kept.items():
            names[name] = files.write(name.partition("-")[0], content)
        files.settle()
        if there < len(unread):
            log.append(INPUT, unread[there:], expected_end=there)
    except BaseException:
        _remove(names.values(), files)
        raise
    moved = replace(
        manifest.renamed(names),
        base=manifest.position,
        deliveries=Output(),
        rejects=Output(),
        departures=Output(),
        handovers=Output(),
        checkpoint="",
        batch=-1,
    )
    try:
        log.put(MANIFEST, moved.to_bytes(), 0)
    except Moved:
        # after any other error it may be there, and need the files
        _remove(names.values(), files)
        raise
    return moved


def _remove(names: Iterable[str], files: Files) -> None:
    for name in names:
        files.path(name).unlink(missing_ok=True)


def _check_target(log: Log, unread: Sequence[bytes]) -> int:
    """How much of the input is there already: an import that was interrupted is gone on with."""
    for stream in (DELIVERIES, REJECTS, DEPARTURES, HANDOVERS):
        if log.end(stream):
            raise Moved(f"expected a log without {stream}, found one with {log.end(stream)}")
    there = [entry.content for entry in log.read(INPUT, 0)]
    if there != [*unread[: len(there)]]:
        raise Moved(f"expected a log without input, found one with {len(there)} entries")
    return len(there)


def _check_output(log: Log, manifest: Manifest) -> None:
    """The output of the last batch belongs to this log, not to the next one."""
    outputs = {
        DELIVERIES: manifest.deliveries,
        REJECTS: manifest.rejects,
        DEPARTURES: manifest.departures,
        HANDOVERS: manifest.handovers,
    }
    for stream, output in outputs.items():
        if log.end(stream) < output.end:
            raise NotPutOut(f"expected {output.end} {stream} in the log, found {log.end(stream)}")


Savepoint = tuple[Manifest, dict[str, bytes], list[bytes]]
"""What one holds, once all of it was checked; entries of the input that were not read are last."""


def read_savepoint(source: Path) -> Savepoint:
    """Raises `UnusableSavepoint` where anything in it is not as it should be."""
    content = source.read_bytes()
    try:
        return _checked(_parts(content))
    except _Wrong as error:
        found = str(error)
    except Exception as error:  # what a stranger's file does to a reader is of any kind
        found = f"one that cannot be read ({_words(error)})"
    raise UnusableSavepoint(f"{source}: expected a savepoint, found {found}")


class _Wrong(Exception):
    """What was found in place of a savepoint."""


def _parts(content: bytes) -> dict[str, bytes]:
    """The members of an archive that is as it was written."""
    end = ENDING.search(content[-LONGEST_ENDING:])
    if end is None:
        raise _Wrong("something else, or not all of it")
    if int(end["version"]) != VERSION:
        raise _Wrong(f"one of version {int(end['version'])}, not {VERSION}")
    if sha256(content[:-DIGITS]).hexdigest().encode() != end["digest"]:
        raise _Wrong("another content than was written")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _members(archive, len(content))
    except _Wrong:
        raise
    except Exception as error:  # of many kinds, by what is wrong
        raise _Wrong(f"no archive ({_words(error)})") from None


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    members = archive.infolist()
    for member in members:
        name = member.filename
        is_file = name.startswith(FOLDER) and FILE_NAME.fullmatch(name.removeprefix(FOLDER))
        if not is_file and name not in (DESCRIPTION, UNREAD):
            raise _Wrong(f"a part that no savepoint has: {shown(name)}")
        if member.compress_type != zipfile.ZIP_STORED:
            raise _Wrong(f"{shown(name)} compressed")
    if len({member.filename for member in members}) < len(members):
        raise _Wrong("a part twice")
    if sum(member.file_size for member in members) > size:
        raise _Wrong("parts that are larger than the file")
    return {member.filename: archive.read(member) for member in members}


def _checked(parts: Mapping[str, bytes]) -> Savepoint:
    for name in (DESCRIPTION, UNREAD):
        if name not in parts:
            raise _Wrong(f"no part {name!r}")
    files = {
        name.removeprefix(FOLDER): content
        for name, content in parts.items()
        if name.startswith(FOLDER)
    }
    manifest = _manifest(parts[DESCRIPTION])
    _check_references(manifest, files)
    states = {*_check_states(manifest, files)}
    schemas = _schemas(manifest)
    for name in files.keys() - states:
        if not name.startswith("matches-"):  # of several tables, which only a manifest tells apart
            table = _table(name, files[name])
            _check_rows(name, table, schemas.get(name))
            if schemas.get(name) in (COMMANDS, WAITING):
                _check_lines(name, table)
    for piece in sorted({*_pieces(manifest)}):
        _table(piece.file, files[piece.file][piece.start : piece.start + piece.size])
    entries = _table(UNREAD, parts[UNREAD])
    _check_rows(UNREAD, entries, ENTRIES)
    return manifest, files, entries.column("content").to_pylist()


def _manifest(content: bytes) -> Manifest:
    try:
        manifest = Manifest.of_bytes(content)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _Wrong(f"a manifest that cannot be read ({_words(error)})") from None
    if not 1 <= len(manifest.shards) <= MOST_SHARDS:
        raise _Wrong(f"a manifest of {len(manifest.shards):,} shards")
    numbers = (manifest.number, manifest.base, manifest.position, manifest.passed)
    if min(numbers) < 0 or max(manifest.base, manifest.passed) > manifest.position:
        raise _Wrong("a manifest whose positions contradict each other")
    if manifest.pending:
        raise _Wrong(f"a manifest that lacks {len(manifest.pending):,} pieces of a micro-batch")
    return manifest


def _check_references(manifest: Manifest, files: Mapping[str, bytes]) -> None:
    named = {*manifest.state_files}
    for name in sorted(named - files.keys()):
        raise _Wrong(f"a manifest that names {shown(name)}, which is not there")
    for name in sorted(files.keys() - named):
        raise _Wrong(f"{shown(name)}, which the manifest does not name")
    for stored in (*manifest.stored, manifest.first_registry):
        if stored.size != len(files[stored.name]):
            raise _Wrong(f"another size of {shown(stored.name)} than its manifest says")
    ends: dict[str, int] = {}
    for piece in sorted({*_pieces(manifest)}):
        if piece.start < 0 or not 0 < piece.size <= len(files[piece.file]) - piece.start:
            raise _Wrong(f"a manifest that names more of {shown(piece.file)} than there is")
        # parts of a file that overlap would be read over and over
        if piece.start < ends.get(piece.file, 0):
            raise _Wrong(f"a manifest that names a part of {shown(piece.file)} twice")
        ends[piece.file] = piece.start + piece.size


def _pieces(manifest: Manifest) -> Iterator[Piece]:
    return (piece for taken in manifest.inputs for piece in taken.matches or ())


def _check_states(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Raises `_Wrong` where one is damaged; the names of their files."""
    first = Chain(token="", snapshot=manifest.first_registry)
    chains = {chain.first: chain for chain in (manifest.registry, *manifest.shards, first)}
    shards = {chain.first for chain in manifest.shards}
    now = max(manifest.latest or 0, manifest.reached or 0)
    for chain in chains.values():
        try:
            saved = read_state(chain, files.__getitem__, bounded=True)
            saved.check()
            if chain.first in shards:
                check_tables(saved, now)
        except UnusableState as error:
            names = " with ".join(shown(stored.name) for stored in chain.first)
            raise _Wrong(f"a damaged {names} ({first_line(error)})") from None
        yield from (stored.name for stored in chain.first)


def _table(name: str, content: bytes) -> pa.Table:
    if not content.endswith(END_OF_TABLE):
        raise _Wrong(f"only a part of {shown(name)}")
    try:
        return read_stream(content, bound_of(len(content)))
    except UnreadableBytes as error:
        raise _Wrong(f"{shown(name)}: {error}") from None


def _schemas(manifest: Manifest) -> dict[str, pa.Schema]:
    """Return the schemas that the tables of an admission must have, by file."""
    kept = (
        (manifest.accepted, ACCEPTED),
        (manifest.waiting, WAITING),
        (manifest.quarantine, QUARANTINE),
    )
    schemas = {each.file.name: schema for segments, schema in kept for each in segments}
    return schemas | {taken.items.name: COMMANDS for taken in manifest.registry.inputs}


def _check_rows(name: str, table: pa.Table, schema: pa.Schema | None) -> None:
    """A table with a schema has a value in every place, but for the shortlist of a command that
    concerns none in particular."""
    if schema is None:
        return
    if table.schema != schema:
        raise _Wrong(f"another table in {shown(name)} than one of {', '.join(schema.names)}")
    for column in schema.names:
        if column != "shortlist" and table.column(column).null_count:
            raise _Wrong(f"a table in {shown(name)} that lacks a {column}")


def _check_lines(name: str, table: pa.Table) -> None:
    """Check that the lines that wait or were carried out can be read: they were read before."""
    is_carried_out = table.schema == COMMANDS
    reader = ItemReader(Vocabulary(), UNLIMITED, again=True)
    for line in table.column("line").to_pylist():
        try:
            item = reader.line(line, position=0, time=0)
        except ValueError as error:  # of a line, or of a noun within it
            raise _Wrong(f"{shown(name)} with {shown(line)} ({first_line(error)})") from None
        if is_carried_out and isinstance(item, Publication):
            raise _Wrong(f"a publication among the commands of {shown(name)}")


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"
