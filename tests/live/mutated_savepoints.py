"""Read savepoints of which some bytes are others, in a process that may be killed by them.

Run as `python -m tests.live.mutated_savepoints SAVEPOINT FIRST LAST`, it says of each seed whether
the savepoint was accepted or refused. The caller sees what else the reader raises or dies of.
"""

import io
import resource
import sys
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from random import Random

import pyarrow as pa

from shortlist.engine.saved import MAGIC, Saved
from shortlist.live.savepoint import UnusableSavepoint, read_savepoint

DIGITS = 64
# Of a state: what Arrow says of the columns of its parts, and where each of these ends.
OUTER_BYTES = 900


def signed(content, version=1):
    """An archive, with the ending that makes a savepoint of it."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = f"shortlist savepoint {version} {'0' * DIGITS}".encode()
    whole = buffer.getvalue()[:-DIGITS]
    return whole + sha256(whole).hexdigest().encode()


def rebuilt(content, change, compression=zipfile.ZIP_STORED):
    """The same archive with other members, signed anew, as somebody would who forges one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return signed(buffer.getvalue())


def mutated(random, savepoint):
    """With 1 to 8 bytes changed in one inner file; or within a table or a document of one."""

    def change(members):
        name = random.choice([*members])
        content = members[name]
        if not content.startswith(MAGIC):
            members[name] = _changed(random, content)
        elif random.random() < 0.5:
            members[name] = _deeply(random, content)
        else:  # there are few bytes around what it holds, and each of them counts
            head = random.choice([OUTER_BYTES, len(content)])
            members[name] = _changed(random, content[:head]) + content[head:]

    return rebuilt(savepoint, change)


def _changed(random, content):
    changed = bytearray(content)
    first = random.randrange(len(changed))
    for _ in range(random.randint(1, 8)):
        # most often near each other: lengths and offsets have several bytes
        place = first + random.randrange(16) if random.random() < 0.7 else first
        changed[min(place, len(changed) - 1)] = random.choice([0, 1, 127, 128, 255, None]) or (
            random.randrange(256)
        )
        if random.random() < 0.3:
            first = random.randrange(len(changed))
    return bytes(changed)


def _deeply(random, content):
    """The same state with a part changed inside, and whole again around it."""
    saved = Saved.of_bytes(content)
    head, _, rest = content.partition(b"\n")
    batch = pa.ipc.open_stream(rest).read_next_batch()
    names, parts = (column.to_pylist() for column in batch.columns)
    place = random.randrange(len(parts))
    if names[place] in ("registry", "document"):
        if parts[place]:
            parts[place] = zlib.compress(_changed(random, zlib.decompress(parts[place])), 1)
    else:
        table = saved.tables[names[place]]
        parts[place] = _changed(random, _stream(table) if random.random() < 0.5 else parts[place])
    return head + b"\n" + _stream(pa.record_batch([names, parts], schema=batch.schema))


def _stream(batch):
    """Not compressed, so that a change in it is one of values and offsets."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def main(source, first, last):
    savepoint = source.read_bytes()
    forged = source.with_suffix(f".{first}")
    for seed in range(first, last):
        print("seed", seed, flush=True)
        forged.write_bytes(mutated(Random(seed), savepoint))
        try:
            read_savepoint(forged)
        except UnusableSavepoint as error:
            said = str(error)
            print("refused" if len(said) < 1_000 and "\n" not in said else f"badly said: {said}")
        else:
            print("accepted")
    print("megabytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
