"""The whole state of a deployment in one file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from shortlist.live.files import Files
from shortlist.live.manifest import Manifest, Output
from shortlist.live.registers import (
    MANIFEST,
    committed,
    has_deployment,
)
from shortlist.live.savepoint_file import read_savepoint, write_savepoint
from shortlist.log.base import DELIVERIES, DEPARTURES, INPUT, REJECTS, Log, Moved
from shortlist.model.problem import ShortlistError


class NotPutOut(ShortlistError):
    """A deployment whose last output is not in its log yet."""


def export(log: Log, files: Files, target: Path) -> int:
    """Writes everything that another log or cluster needs to go on; how many entries of the input
    were not read yet, which are written too."""
    _, manifest = committed(log)
    _check_output(log, manifest)
    unread = [entry.content for entry in log.read(INPUT, manifest.position - manifest.base)]
    write_savepoint(target, manifest, files, unread)
    return len(unread)


def restore(source: Path, log: Log, files: Files) -> Manifest:
    """Begins a deployment with what was exported; the log must have none, and no input.

    Positions go on where they were, and the streams of the new log start with nothing.
    """
    if has_deployment(log):
        raise Moved("expected a log without a deployment, found one with")
    savepoint = read_savepoint(source)
    there = _check_target(log, savepoint.unread)
    names: dict[str, str] = {}
    try:
        for name, content in savepoint.files.items():
            names[name] = files.write(name.partition("-")[0], content)
        files.settle()
        if there < len(savepoint.unread):
            log.append(INPUT, savepoint.unread[there:], expected_end=there)
    except BaseException:
        _remove(names.values(), files)
        raise
    moved = replace(
        savepoint.manifest.renamed(names),
        base=savepoint.manifest.position,
        deliveries=Output(),
        rejects=Output(),
        departures=Output(),
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
    for stream in (DELIVERIES, REJECTS, DEPARTURES):
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
    }
    for stream, output in outputs.items():
        if log.end(stream) < output.end:
            raise NotPutOut(f"expected {output.end} {stream} in the log, found {log.end(stream)}")
