"""The demo's folder: the city as real files, and where the results go."""

import json
from collections.abc import Iterable
from pathlib import Path

import yaml

from examples.city.city import publication_lines
from examples.city.readers import registry_document


class DemoFiles:
    """Every path of the demo."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.registry = folder / "registry"
        self.publications = folder / "publications.jsonl"
        self.deliveries = folder / "deliveries.jsonl"
        self.rejects = folder / "deliveries.jsonl.rejects.jsonl"
        self.picture = folder / "matched-and-delivered.png"


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
