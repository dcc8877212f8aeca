"""Every kind of bank: a faster one than plain selectors is a row here and a file beside."""

from collections.abc import Callable

from shortlist.model.policy import SinglePolicy
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.cap import CapBank
from shortlist.selection.bank.diverse import DiverseBank
from shortlist.selection.bank.fresh import CountFreshBank, FreshBank
from shortlist.selection.bank.novelty import NoveltyBank
from shortlist.selection.bank.plain import PlainBank
from shortlist.selection.bank.preferential import PreferentialBank
from shortlist.selection.bank.waiting import WaitingBank
from shortlist.selection.bank.window import CountWindowBank, WindowBank
from shortlist.selection.bank.world import World

COUNTED = "counted "
BANKS: dict[str, Callable[[World], Bank]] = {
    "top-k": lambda world: PreferentialBank(),
    "window": lambda world: WindowBank(),
    "counted window": lambda world: CountWindowBank(),
    "novelty": lambda world: NoveltyBank(),
    "fresh": lambda world: FreshBank(),
    "counted fresh": lambda world: CountFreshBank(),
    "diverse": lambda world: DiverseBank(world.publications),
    "counted diverse": lambda world: DiverseBank(world.publications),
    "digest": lambda world: WaitingBank(),
    "quiet": lambda world: WaitingBank(),
    "cap": lambda world: CapBank(),
}
"""Those that are faster than plain selectors; counted ones are for count windows."""


def bank_kind(policy: SinglePolicy) -> str:
    """The name of the bank that carries a policy out.

    >>> from shortlist.model.policy import Window
    >>> bank_kind(Window(k=9, window=1000))
    'counted window'
    """
    counted = f"{COUNTED}{policy.kind}"
    is_counted = isinstance(getattr(policy, "window", None), int)
    return counted if is_counted and counted in BANKS else policy.kind


def policy_kind(kind: str) -> str:
    """The kind of the policies that a bank carries out.

    >>> policy_kind("counted window")
    'window'
    """
    return kind.removeprefix(COUNTED)


def bank_of_kind(kind: str, world: World) -> Bank:
    """A bank without shortlists; one of selectors where there is no faster one."""
    return BANKS.get(kind, PlainBank)(world)
