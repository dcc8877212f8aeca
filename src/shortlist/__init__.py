"""Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything that matches."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.covering.covers import covers as covers
    from shortlist.covering.covers import intersects as intersects
    from shortlist.engine.engine import Engine as Engine
    from shortlist.engine.explanation import Question as Question
    from shortlist.engine.replay import replay as replay
    from shortlist.intake.files import read_registry as read_registry
    from shortlist.intake.files import registry_from_documents as registry_from_documents
    from shortlist.jobs.compiling import compile_registry as compile_registry
    from shortlist.live.registry_folder import CompiledRegistry as CompiledRegistry
    from shortlist.model.problem import InvalidRegistry as InvalidRegistry
    from shortlist.model.problem import ShortlistError as ShortlistError
    from shortlist.model.publication import Publication as Publication
    from shortlist.model.registry import Registry as Registry
    from shortlist.model.settings import Settings as Settings
    from shortlist.spark.batch import Batch as Batch
    from shortlist.spark.dataframes import batch as batch
    from shortlist.spark.dataframes import rank as rank
    from shortlist.spark.dataframes import rank_stream as rank_stream
    from shortlist.spark.session import local_session as local_session

_NAMES = {
    "covering.covers": ("covers", "intersects"),
    "engine.engine": ("Engine",),
    "engine.explanation": ("Question",),
    "engine.replay": ("replay",),
    "intake.files": ("read_registry", "registry_from_documents"),
    "jobs.compiling": ("compile_registry",),
    "live.registry_folder": ("CompiledRegistry",),
    "model.problem": ("InvalidRegistry", "ShortlistError"),
    "model.publication": ("Publication",),
    "model.registry": ("Registry",),
    "model.settings": ("Settings",),
    "spark.batch": ("Batch",),
    "spark.dataframes": ("batch", "rank", "rank_stream"),
    "spark.session": ("local_session",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    """Each name is imported when it is first asked for: who needs little starts fast."""
    if name not in _WHERE:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    found = getattr(import_module(f"shortlist.{_WHERE[name]}"), name)
    globals()[name] = found
    return found
