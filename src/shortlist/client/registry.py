"""Who is live in a deployment, read on as it changes."""

import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from shortlist.client.deployment import UNLIMITED, Deployment
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster
from shortlist.live.manifest import Chain
from shortlist.live.registers import NoDeployment
from shortlist.live.registry_state import carried_out
from shortlist.model.vocabulary import Vocabulary

Answer = TypeVar("Answer")


class _Known(NamedTuple):
    """What was read, and up to where."""

    chain: Chain
    roster: Roster
    reader: ItemReader


class LiveRegistry:
    """The live nouns of a deployment; what was read once is not read again.

    Threads may ask it at the same time.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._known: _Known | None = None
        self._lock = threading.Lock()

    @property
    def vocabulary(self) -> Vocabulary:
        return self._deployment.vocabulary

    def ask(self, question: Callable[[Roster], Answer]) -> Answer:
        """What the roster of the last commit answers; nobody changes it meanwhile, nor may the
        question. Raises `NoDeployment` where there is none, or its state cannot be read."""
        with self._lock:
            return question(self._current())

    def _current(self) -> Roster:
        manifest, files = self._deployment.manifest, self._deployment.files
        if manifest is None or files is None:
            raise NoDeployment("expected a deployment whose state can be read here, found none")
        chain, known = manifest.registry, self._known
        if known is None or not _goes_on(known.chain, chain):
            roster = self._deployment.roster()
            assert roster is not None
            known = _Known(chain, roster, ItemReader(self.vocabulary, UNLIMITED))
        else:
            later = chain.inputs[len(known.chain.inputs) :]
            for command in carried_out(later, files, known.reader):
                known.roster.apply(command)
            known = known._replace(chain=chain)
        self._known = known
        return known.roster


def _goes_on(before: Chain, after: Chain) -> bool:
    """Whether one state came from the other by what was taken in since."""
    is_same = before.snapshot == after.snapshot
    return is_same and after.inputs[: len(before.inputs)] == before.inputs
