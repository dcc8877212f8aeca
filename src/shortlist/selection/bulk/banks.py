"""Every kind of bank: a new one is a row here and a file beside."""

from collections.abc import Callable

from shortlist.model.policy import Diverse, Fresh, SinglePolicy, Window
from shortlist.selection.bulk.base import Bank
from shortlist.selection.bulk.diverse import DiverseBank
from shortlist.selection.bulk.fresh import CountFreshBank, FreshBank
from shortlist.selection.bulk.novelty import NoveltyBank
from shortlist.selection.bulk.preferential import PreferentialBank
from shortlist.selection.bulk.publications import Publications
from shortlist.selection.bulk.window import CountWindowBank, WindowBank

BANKS: dict[str, Callable[[Publications], Bank]] = {
    "top-k": lambda publications: PreferentialBank(),
    "window": lambda publications: WindowBank(),
    "counted window": lambda publications: CountWindowBank(),
    "novelty": lambda publications: NoveltyBank(),
    "fresh": lambda publications: FreshBank(),
    "counted fresh": lambda publications: CountFreshBank(),
    "diverse": DiverseBank,
    "counted diverse": DiverseBank,
}


def bank_kind(policy: SinglePolicy) -> str:
    """The name of the bank that carries a policy out.

    >>> bank_kind(Window(k=9, window=1000))
    'counted window'
    """
    is_counted = isinstance(policy, Window | Fresh | Diverse) and isinstance(policy.window, int)
    return f"counted {policy.kind}" if is_counted else policy.kind
