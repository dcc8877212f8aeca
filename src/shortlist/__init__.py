"""Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything that matches."""

from typing import TYPE_CHECKING, Any

from shortlist.covering.covers import covers, intersects
from shortlist.engine.engine import Engine
from shortlist.engine.explanation import Question
from shortlist.engine.replay import replay
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.model.problem import InvalidRegistry, ShortlistError
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings

if TYPE_CHECKING:
    from shortlist.spark.batch import Batch
    from shortlist.spark.dataframes import batch, rank, rank_stream
    from shortlist.spark.session import local_session

__all__ = [
    "Batch",
    "Engine",
    "InvalidRegistry",
    "Publication",
    "Question",
    "Registry",
    "Settings",
    "ShortlistError",
    "batch",
    "covers",
    "intersects",
    "local_session",
    "rank",
    "rank_stream",
    "read_registry",
    "registry_from_documents",
    "replay",
]

_ON_SPARK = {
    "Batch": "shortlist.spark.batch",
    "batch": "shortlist.spark.dataframes",
    "rank": "shortlist.spark.dataframes",
    "rank_stream": "shortlist.spark.dataframes",
    "local_session": "shortlist.spark.session",
}


def __getattr__(name: str) -> Any:
    """What needs Spark is imported when it is first asked for."""
    from importlib import import_module

    if name in _ON_SPARK:
        return getattr(import_module(_ON_SPARK[name]), name)
    raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
