"""Windows watched while publications flow, in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.top_k_w.window_watch import WindowStates, WindowWatch
from shortlist.engine.engine import Engine
from shortlist.engine.stages import ReadTable
from shortlist.intake.files import registry_from_documents
from shortlist.intake.tables import POSITION
from shortlist.matching.blocks import Floats
from shortlist.model.items import Items
from shortlist.model.settings import Settings

AT_ONCE = 8_192


def watch(
    subscriptions: Sequence[Mapping[str, Any]],
    publications: pa.Table,
    tell: Callable[[WindowStates], None],
    at_once: int = AT_ONCE,
    breakpoints: Mapping[str, Floats] | None = None,
) -> None:
    """Tells how the windows of subscriptions are before every so many publications, and after all.

    When the windows have emptied nobody is told.
    """
    registry = registry_from_documents({"subscriptions": [*subscriptions]})
    engine = Engine(registry)
    limits = Settings().limits
    read = ReadTable(vocabulary=registry.vocabulary, limits=limits, wanted=engine.admission.wanted)
    positions = pa.array(np.arange(1, len(publications) + 1))
    table = publications.append_column(POSITION, positions)
    items = [Items(batch) for batch in read(table.to_batches(AT_ONCE))]
    admitted = engine.admission.admit(Items.joined(items), last=True)
    names = [each["id"] for each in subscriptions]
    observer = WindowWatch(engine.shard, names, tell, at_once=at_once, breakpoints=breakpoints)
    placed = engine.shard.run(admitted.items, until=admitted.until, observer=observer)
    for _ in placed:
        pass
