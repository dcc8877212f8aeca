"""What an experiment may ask for: its size, its draws, data, and the system itself."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from shortlist.experiments.ranking import Ranked, Ranking
from shortlist.intake.files import registry_from_documents
from shortlist.jobs.job import Ground
from shortlist.jobs.sinks import replacing
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps

T = TypeVar("T")


class DataMissing(ShortlistError):
    """A real data set is not here; what needs it is skipped."""


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment, at one size, drawn from one seed."""

    ground: Ground
    steps: Steps
    kept: Path
    """Where points stand that were computed before."""
    quick: bool = False
    seed: int = 0
    data_folder: Path | None = None

    def pick(self, full: T, quick: T) -> T:
        """Something for the full size, or for a quick look."""
        return quick if self.quick else full

    def draws(self, *names: object) -> np.random.Generator:
        """Random numbers of their own for whatever these names name, the same in every run."""
        digest = sha256(repr((self.seed, *names)).encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def point(self, name: str, compute: Callable[[], T]) -> T:
        """What `compute` returns, as JSON has it; computed once, also if the run is cut off."""
        file = self.kept / f"{sha256(name.encode()).hexdigest()[:16]}.json"
        if not file.exists():
            with self.steps.step(name):
                found = compute()
            self.kept.mkdir(parents=True, exist_ok=True)
            with replacing(file) as whole:
                whole.write_text(json.dumps(found))
        return json.loads(file.read_bytes())  # type: ignore[no-any-return]

    def data(self, name: str) -> pa.Table:
        """A real data set, by the name of its file without the ending."""
        if self.data_folder is None:
            raise DataMissing(f"needs the data set {name}: see --data")
        file = self.data_folder / f"{name}.csv.gz"
        if not file.exists():
            raise DataMissing(f"needs the data set {name}, which is not in the folder of --data")
        newlines = pa.csv.ParseOptions(newlines_in_values=True)
        return pa.csv.read_csv(file, parse_options=newlines)

    def rank(
        self,
        registry: Registry | Mapping[str, Any],
        publications: pa.Table | Sequence[Mapping[str, Any]] | Iterable[Mapping[str, Any]],
        settings: Settings | None = None,
        *,
        with_data: bool = False,
        commands: bool = False,
    ) -> Ranked:
        """What `shortlist run` makes of a registry and publications."""
        known = registry if isinstance(registry, Registry) else registry_from_documents(registry)
        quiet = Steps(self.steps.console, quiet=True)
        ranking = Ranking(self.ground, quiet, settings or Settings())
        with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
            source = _written(publications, Path(folder))
            return ranking.rank(known, source, commands=commands, with_data=with_data)


def _written(publications: pa.Table | Iterable[Mapping[str, Any]], folder: Path) -> Path:
    if isinstance(publications, pa.Table):
        pq.write_table(publications, folder / "publications.parquet")
        return folder / "publications.parquet"
    file = folder / "publications.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(each)}\n" for each in publications)
    return file
