"""Every kind of bank: a new one is a row here and a file beside."""

from collections.abc import Callable

from shortlist.model.policy import SinglePolicy
from shortlist.selection.bulk.base import Bank
from shortlist.selection.bulk.novelty import NoveltyBank
from shortlist.selection.bulk.preferential import PreferentialBank
from shortlist.selection.bulk.publications import Publications

BANKS: dict[str, Callable[[Publications], Bank]] = {
    "top-k": lambda publications: PreferentialBank(),
    "novelty": lambda publications: NoveltyBank(),
}


def bank_kind(policy: SinglePolicy) -> str:
    return policy.kind
