"""Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything that matches."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.covering.covers import covers, intersects
    from shortlist.engine.engine import Engine
    from shortlist.engine.explanation import Question
    from shortlist.engine.replay import replay
    from shortlist.intake.files import read_registry, registry_from_documents
    from shortlist.jobs.compiling import compile_registry
    from shortlist.live.registry_folder import CompiledRegistry
    from shortlist.model.problem import InvalidRegistry, ShortlistError
    from shortlist.model.publication import Publication
    from shortlist.model.registry import Registry
    from shortlist.model.settings import Settings
    from shortlist.spark.batch import Batch
    from shortlist.spark.dataframes import batch, rank, rank_stream
    from shortlist.spark.session import local_session

__all__ = [
    "Batch",
    "CompiledRegistry",
    "Engine",
    "InvalidRegistry",
    "Publication",
    "Question",
    "Registry",
    "Settings",
    "ShortlistError",
    "batch",
    "compile_registry",
    "covers",
    "intersects",
    "local_session",
    "rank",
    "rank_stream",
    "read_registry",
    "registry_from_documents",
    "replay",
]

_WHERE = {
    "Batch": "spark.batch",
    "CompiledRegistry": "live.registry_folder",
    "Engine": "engine.engine",
    "InvalidRegistry": "model.problem",
    "Publication": "model.publication",
    "Question": "engine.explanation",
    "Registry": "model.registry",
    "Settings": "model.settings",
    "ShortlistError": "model.problem",
    "batch": "spark.dataframes",
    "compile_registry": "jobs.compiling",
    "covers": "covering.covers",
    "intersects": "covering.covers",
    "local_session": "spark.session",
    "rank": "spark.dataframes",
    "rank_stream": "spark.dataframes",
    "read_registry": "intake.files",
    "registry_from_documents": "intake.files",
    "replay": "engine.replay",
}


def __getattr__(name: str) -> Any:
    """Each name is imported when it is first asked for: who needs little starts fast."""
    if name not in _WHERE:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    found = getattr(import_module(f"shortlist.{_WHERE[name]}"), name)
    globals()[name] = found
    return found
