"""Who is live in a deployment, read on as it changes."""

import threading
from collections.abc import Callable
from typing import TypeVar

from shortlist.client.deployment import Deployment
from shortlist.intake.roster import Roster
from shortlist.live.registers import NoDeployment
from shortlist.live.registry_state import FollowedRegistry
from shortlist.model.vocabulary import Vocabulary

Answer = TypeVar("Answer")


class LiveRegistry:
    """The live nouns of a deployment. Threads may ask it at the same time."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._known = FollowedRegistry()
        self._lock = threading.Lock()

    @property
    def vocabulary(self) -> Vocabulary:
        return self._deployment.vocabulary

    def ask(self, question: Callable[[Roster], Answer]) -> Answer:
        """What the roster of the last commit answers; nobody changes it meanwhile, nor may the
        question. Raises `NoDeployment` where there is none, or its state cannot be read."""
        with self._lock:
            manifest, files = self._deployment.manifest, self._deployment.files
            if manifest is None or files is None:
                raise NoDeployment("expected a deployment whose state can be read here, found none")
            self._known.read(manifest.registry, files)
            return question(self._known.roster)
