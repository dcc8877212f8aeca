"""Every policy and what carries it out: a new policy is a row here and a file beside."""

from typing import Any

from shortlist.model.policy import Everything, Novelty, TopK, Window
from shortlist.model.shortlist import Shortlist
from shortlist.selection.base import Selector
from shortlist.selection.everything import EverythingSelector
from shortlist.selection.novelty import NoveltySelector
from shortlist.selection.preferential import PreferentialSelector
from shortlist.selection.window import WindowSelector

SELECTORS: dict[type, Any] = {
    Everything: EverythingSelector,
    TopK: PreferentialSelector,
    Window: WindowSelector,
    Novelty: NoveltySelector,
}


def selector(shortlist: Shortlist) -> Selector:
    """What selects for a shortlist, with nothing seen yet."""
    made: Selector = SELECTORS[type(shortlist.policy)](shortlist.policy, shortlist.id)
    return made
