"""The command `replay`: a batch over what a log holds."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import options
from shortlist.cli.app import LIVE, announced_folder, app, opened, say
from shortlist.client.deployment import Deployment, is_put_out, wait_for
from shortlist.live.manifest import Manifest
from shortlist.live.places import files_in
from shortlist.log.base import Log
from shortlist.model.durations import format_duration
from shortlist.model.settings import Advertising, Limits, Settings, TimeBasis

if TYPE_CHECKING:
    from shortlist.engine.explanation import Question
    from shortlist.live.replaying import Comparison
    from shortlist.model.registry import Registry

FEW = 10
"""Differences that are named."""
PATIENCE = 5.0
"""Seconds."""


@app.command(rich_help_panel=LIVE)
def replay(
    registry: options.RegistryPath = None,
    *,
    log: options.LogUrl,
    compares: Annotated[
        bool,
        typer.Option("--compare", help="Say whether the deployment has delivered the same so far."),
    ] = False,
    with_data: options.WithData = False,
    basis: options.LiveTime = None,
    lateness: options.LiveLateness = None,
    ahead: options.LiveAhead = None,
    dedup: Annotated[str | None, options.DEDUP] = None,
    advertised: Annotated[Advertising | None, options.ADVERTISED] = None,
    limit: options.LimitFlags = None,
    as_json: options.AsJson = False,
) -> None:
    """Run a batch over what a log holds: print its deliveries, or compare them. Needs no Spark.

    The registry that the deployment began with, and its settings, are taken from its state.
    """
    from shortlist.intake.files import read_registry
    from shortlist.live.replaying import compare, replay_log

    with opened(log, must_exist=True) as known:
        manifest = Deployment(known).manifest
        if compares and manifest is None:
            raise typer.BadParameter("--compare: expected a deployment on this log, found none")
        settings = _settings(manifest, basis, lateness, ahead, dedup, advertised, limit)
        if registry is not None:
            made = read_registry(registry, settings.limits)
        else:
            made = _known_registry(known, manifest, settings.limits)
        if compares and manifest is not None:
            # they come to the log just after they are committed, if anybody brings them there
            wait_for(partial(is_put_out, known, manifest), PATIENCE)
            _tell(compare(known, manifest, made, settings), as_json)
            return
        delivered = rejected = 0
        position, base = (0, 0) if manifest is None else (manifest.position, manifest.base)
        for part in replay_log(known, made, settings, decided=position - base, base=base):
            for delivery in part.deliveries:
                print(json.dumps(delivery.document(with_data), ensure_ascii=False))
            delivered += len(part.deliveries)
            rejected += len(part.rejects)
    sys.stdout.flush()
    say([f"{delivered:,} deliveries, {rejected:,} rejects"])


def explanations(url: str, question: Question, limits: list[str] | None) -> list[dict[str, Any]]:
    """What the deployment on a log says to a question: its state, or else a replay of the log."""
    from shortlist.client.explaining import told_by_state
    from shortlist.live.replaying import explain

    with opened(url, must_exist=True) as log:
        manifest = Deployment(log).manifest
        if manifest is None:
            raise typer.BadParameter("--log: expected one with a deployment on it, found none")
        assert question.shortlist is not None
        found = told_by_state(Deployment(log), question, question.shortlist)
        if found:
            return found
        say(["the state does not know it: replayed from the log"])
        settings = _settings(manifest, None, None, None, None, None, limits)
        made = _known_registry(log, manifest, settings.limits)
        return explain(log, manifest, made, settings, question)


def _settings(
    manifest: Manifest | None,
    basis: TimeBasis | None,
    lateness: str | None,
    ahead: str | None,
    dedup: str | None,
    advertised: Advertising | None,
    limits: list[str] | None,
) -> Settings:
    """What is asked for; else what the deployment goes by."""
    kept = {} if manifest is None else manifest.settings
    basis = basis or ("arrival" if manifest is None else manifest.basis)
    required = advertised or kept.get("advertised", "optional")
    settings = options.live_settings(basis, lateness, ahead, dedup or "24h", required, limits)
    asked = {"lateness": lateness, "ahead": ahead, "dedup": dedup}
    if manifest is None or basis == "arrival" or basis != manifest.basis:
        del asked["lateness"], asked["ahead"]
    names = [name for name, given in asked.items() if given is None and name in kept]
    known: dict[str, Any] = {
        name: None if kept[name] is None else format_duration(kept[name]) for name in names
    }
    return replace(settings, **known)


def _known_registry(log: Log, manifest: Manifest | None, limits: Limits) -> Registry:
    from shortlist.live.replaying import first_registry
    from shortlist.model.registry import Registry

    if manifest is None:
        return Registry()
    return first_registry(manifest, files_in(announced_folder(log)), limits)


def _tell(found: Comparison, as_json: bool) -> None:
    differences = found.differences
    if as_json:
        document = found._asdict() | {
            "differences": [difference._asdict() for difference in differences]
        }
        print(json.dumps(document, ensure_ascii=False))
    else:
        counted = (
            f"{found.entries:,} entries, {found.deliveries:,} deliveries, {found.rejects:,} rejects"
        )
        print(f"{counted}: " + (f"{len(differences):,} differ" if differences else "all the same"))
        say(map(str, differences[:FEW]))
    if differences:
        raise typer.Exit(1)
