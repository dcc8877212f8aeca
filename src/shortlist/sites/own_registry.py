"""The subscriptions of a site's own deployment: those that are live, and those that may be soon."""

import time
from collections.abc import Iterable

from shortlist.intake.roster import BEFORE_ALL_TIME, Roster
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.places import announced, files_in
from shortlist.live.registers import NoDeployment, committed
from shortlist.live.registry_state import FollowedRegistry
from shortlist.log.base import Log
from shortlist.model.command import Command, Subscribe, Update
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import TimeBasis
from shortlist.model.subscription import Subscription
from shortlist.overlay.messages import Proxy
from shortlist.overlay.site_broker import proxy_of

ATTEMPTS = 5
"""At reading files that the deployment may collect meanwhile."""
CLOCKS_APART = 5_000_000
"""By how much the clocks of two logs may differ, in microseconds."""


class HasAdvertisements(ShortlistError):
    """A registry that a site cannot have: nobody chooses a publisher's best across sites."""


class HasDefined(ShortlistError):
    """A vocabulary that changed while a site was joined: all sites must have the same."""


class OwnRegistry:
    """What the deployment has carried out decides what is dropped: once it has, nothing that comes
    later can be of a time before that. What is only asked for counts as live at once.

    So a subscription is known elsewhere for as long as anything that it wants may still come.
    """

    def __init__(self, log: Log, site: str) -> None:
        self._log = log
        self._site = site
        self._manifest = committed(log)[1]
        self._files = _files_of(log)
        self._pending: dict[int, tuple[int, Subscription]] = {}
        """By offset, subscriptions that commands ask for which are not carried out yet."""
        self._registry = FollowedRegistry()
        self._proxies: dict[str, Proxy] = {}
        self.version = 0
        """Another one after every change."""
        self._read(self._manifest)
        self.vocabulary = self._roster.vocabulary.now()

    @property
    def _roster(self) -> Roster:
        return self._registry.roster

    @property
    def basis(self) -> TimeBasis:
        return self._manifest.basis

    @property
    def passed(self) -> int:
        """The offset up to which every entry was carried out or turned away."""
        return self._manifest.passed - self._manifest.base

    def note(self, offset: int, command: Command) -> None:
        """A command that stands in the log."""
        if offset <= self.passed:
            return
        self.version += 1
        match command:
            case Subscribe(subscription=subscription):
                self._pending[offset] = command.time, subscription
            case Update():
                asked = self._asked_for(command)
                if asked is not None:
                    self._pending[offset] = command.time, asked

    def _asked_for(self, command: Update) -> Subscription | None:
        """What a subscription will be after an update; None where no subscription changes.

        Where that depends on what is not carried out yet, it may be anything.
        """
        is_asked_for = any(asked.id == command.id for _, asked in self._pending.values())
        if not is_asked_for and self._roster.refusal(command) is None:
            return self._roster.updated(command).subscription
        return Subscription(id=command.id) if command.kind == "subscription" else None

    def refresh(self) -> None:
        """Looks at what the deployment has carried out."""
        manifest = committed(self._log)[1]
        if manifest.number != self._manifest.number:
            self._read(manifest)
            if self._roster.vocabulary.now() != self.vocabulary:
                raise HasDefined(
                    "expected the vocabulary that the sites have in common, found terms that were "
                    "defined since: define the same at all sites, and start them again"
                )

    def proxies(self) -> Iterable[Proxy]:
        """The subscriptions as other sites are to know them now."""
        made = dict(self._proxies)
        apart = 0 if self.basis == "event" else CLOCKS_APART
        for born, subscription in self._pending.values():
            proxy = proxy_of(self._site, subscription, born - apart)
            made.setdefault(proxy.id, proxy)
        return made.values()

    def _read(self, manifest: Manifest) -> None:
        """Files that a newer manifest does not name may be gone: then that one is read."""
        for attempt in range(ATTEMPTS):
            try:
                is_new = self._registry.read(manifest.registry, self._files)
                break
            except FileNotFoundError:
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(0.05)
                manifest = committed(self._log)[1]
        if is_new:
            made = (
                proxy_of(self._site, subscription, BEFORE_ALL_TIME)
                for subscription in self._roster.subscriptions.values()
            )
            self._proxies = {proxy.id: proxy for proxy in made}
        self._manifest = manifest
        self.version += 1
        self._pending = {at: kept for at, kept in self._pending.items() if at > self.passed}
        if self._roster.advertisements:
            name = min(self._roster.advertisements)
            raise HasAdvertisements(
                f"advertisement {name!r}: expected none in the registry of a site, since a "
                "publisher's k best of all sites are not chosen together"
            )


def _files_of(log: Log) -> Files:
    folder = announced(log)
    if folder is None or not folder.is_dir():
        raise NoDeployment(
            f"expected the state of the deployment at {folder}, found no such folder: a site is "
            "run where its deployment's state can be read"
        )
    return files_in(folder)
