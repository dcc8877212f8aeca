"""The demo's folder: the city as real files, and where the results go."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from shortlist.demo.city import publication_lines
from shortlist.demo.readers import registry_document


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """Every path of the demo."""

    folder: Path

    @property
    def registry(self) -> Path:
        return self.folder / "registry"

    @property
    def publications(self) -> Path:
        return self.folder / "publications.jsonl"

    @property
    def deliveries(self) -> Path:
        return self.folder / "deliveries.jsonl"

    @property
    def rejects(self) -> Path:
        return self.folder / "deliveries.jsonl.rejects.jsonl"

    @property
    def picture(self) -> Path:
        return self.folder / "matched-and-delivered.png"


def write_city(files: DemoFiles, publications: int, readers: int) -> None:
    """Generates the registry and the publications; the same numbers give the same bytes."""
    files.registry.mkdir(parents=True, exist_ok=True)
    document = registry_document(readers)
    vocabulary = yaml.safe_dump(document["vocabulary"], sort_keys=False, default_flow_style=None)
    (files.registry / "vocabulary.yaml").write_text(vocabulary, encoding="utf-8")
    for kind in ("shortlists", "subscriptions", "advertisements"):
        _write_lines(files.registry / f"{kind}.jsonl", map(json.dumps, document[kind]))
    _write_lines(files.publications, publication_lines(publications))


def _write_lines(file: Path, lines: Iterable[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
