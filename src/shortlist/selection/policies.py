"""Every policy and what carries it out: a new policy is a row here and a file beside."""

from collections.abc import Callable
from typing import Any

from shortlist.model.policy import (
    Cap,
    Chain,
    Digest,
    Diverse,
    Everything,
    Fresh,
    Novelty,
    Policy,
    Quiet,
    TopK,
    Window,
)
from shortlist.model.shortlist import Shortlist
from shortlist.selection.base import Selector
from shortlist.selection.cap import CapSelector
from shortlist.selection.chain import ChainSelector
from shortlist.selection.diverse import DiverseSelector
from shortlist.selection.everything import EverythingSelector
from shortlist.selection.fresh import FreshSelector
from shortlist.selection.novelty import NoveltySelector
from shortlist.selection.preferential import PreferentialSelector
from shortlist.selection.waiting import WaitingSelector
from shortlist.selection.window import WindowSelector


def _chain(policy: Chain, shortlist: str) -> Selector:
    selectors = [policy_selector(each, shortlist) for each in policy.policies]
    return ChainSelector(policy.policies, selectors)


SELECTORS: dict[type, Callable[[Any, str], Selector]] = {
    Everything: EverythingSelector,
    TopK: PreferentialSelector,
    Window: WindowSelector,
    Novelty: NoveltySelector,
    Fresh: FreshSelector,
    Diverse: DiverseSelector,
    Digest: WaitingSelector,
    Quiet: WaitingSelector,
    Cap: CapSelector,
    Chain: _chain,
}


def selector(shortlist: Shortlist) -> Selector:
    """What selects for a shortlist, with nothing seen yet."""
    return policy_selector(shortlist.policy, shortlist.id)


def policy_selector(policy: Policy, shortlist: str) -> Selector:
    """What carries out a policy of a shortlist, with nothing seen yet."""
    return SELECTORS[type(policy)](policy, shortlist)
