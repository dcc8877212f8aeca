"""Figure 12: time to match, time to load, and memory, over the number of subscriptions.

The paper's algorithm with its options (`two_stage`) beside what the system has: the plain matcher,
which asks every subscription, and the compiled index, which takes many publications at once or one
by one. Times are of the processor, as shares of what the plain matcher takes for the most
subscriptions: machines differ, and the paper's is of 2003.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from experiments.uncertainties.two_stage import TwoStage
from experiments.uncertainties.workload import ATTRIBUTES, Workload, real
from shortlist.experiments.picture import INKS, draw_lines
from shortlist.experiments.run import Run
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.index.storage import Arrays, described
from shortlist.matching.scan import Scan
from shortlist.matching.values import Reader
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PUBLICATIONS = 10
"""Times are those of so many, also where more or fewer of them are taken."""
FEW = 2
"""The plain matcher, which takes as long for each, takes only so many."""
WARM = 300
"""Subscriptions that are loaded and matched before anything is timed."""
SCAN, BLOCK, ONE_BY_ONE = "plain matcher", "index, in a block", "index, one by one"
LIST, SORTED, MATRIX, IN_BITS = "list", "list, sorted", "matrix", "list, 4 bits"
TWO_STAGE: Mapping[str, Callable[[Vocabulary], TwoStage]] = {
    LIST: TwoStage,
    SORTED: lambda vocabulary: TwoStage(vocabulary, sorts=True),
    MATRIX: lambda vocabulary: TwoStage(vocabulary, "matrix"),
    IN_BITS: lambda vocabulary: TwoStage(vocabulary, in_bits=True),
}


class Grows(Protocol):
    def add(self, subscription: Subscription) -> None: ...


def measure(run: Run) -> dict[str, Any]:
    sizes = run.pick(full=[10_000, 40_000, 70_000, 100_000], quick=[1_000, 2_000, 4_000])
    workload = Workload(run.draws("workload"), sizes[-1], run.pick(full=1_000, quick=200))
    measures: dict[str, Any] = {"subscriptions": sizes}
    costs = {
        name: run.point(f"Costs, {name}", partial(costs_of, name, workload, sizes))
        for name in (SCAN, *TWO_STAGE, BLOCK)
    }
    for name, found in costs.items():
        for what in ("loading", "matching"):
            measures[f"{what}, {name}"] = _shares(found[what], costs[SCAN][what])
        measures |= {f"bytes of {what}": each / sizes[-1] for what, each in found["bytes"].items()}
    one_by_one = costs[BLOCK]["matching one by one"]
    measures[f"matching, {ONE_BY_ONE}"] = _shares(one_by_one, costs[SCAN]["matching"])
    both_stages = measures[f"matching, {SORTED}"][-1] / measures[f"matching, {LIST}"][-1]
    measures["sorted over unsorted, both stages"] = both_stages
    measures |= run.point("Predicates alone", lambda: _predicates_alone(run))
    return measures


def costs_of(name: str, workload: Workload, sizes: Sequence[int]) -> dict[str, Any]:
    """Seconds to load the first so many subscriptions and to match all publications with them, and
    the bytes that it took in the end."""
    many = workload.readers_as()
    readers = many[:PUBLICATIONS]
    make = TWO_STAGE.get(name) or (Scan if name == SCAN else Index)
    warm, matcher = make(workload.vocabulary), make(workload.vocabulary)
    _load(warm, [*islice(workload.subscriptions_as(), WARM)])
    _match(warm, readers)
    rest, loaded, spent = workload.subscriptions_as(), 0, 0.0
    costs: dict[str, Any] = {"loading": [], "matching": [], "matching one by one": []}
    for size in sizes:
        some = [*islice(rest, size - loaded)]
        spent, loaded = spent + _seconds(partial(_load, matcher, some)), size
        costs["loading"].append(spent)
        match = partial(_match, matcher, readers)
        if isinstance(matcher, Index):
            of_many = _least_seconds(partial(_match_block, matcher, many))
            costs["matching"].append(of_many * len(readers) / len(many))
            costs["matching one by one"].append(_least_seconds(match))
        elif isinstance(matcher, Scan):
            of_few = _seconds(partial(_match, matcher, readers[:FEW]))
            costs["matching"].append(of_few * len(readers) / FEW)
        else:
            costs["matching"].append(_least_seconds(match))
    return {**costs, "bytes": _bytes_of(name, matcher)}


def _bytes_of(name: str, matcher: Scan | Index | TwoStage) -> dict[str, int]:
    """Each part once, in the variant that it is about."""
    if isinstance(matcher, Index):
        arrays = Arrays()
        described(tuple(matcher.saved().values()), arrays)
        return {"the index": sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))}
    if isinstance(matcher, Scan) or name == SORTED:
        return {}
    association, degrees = matcher.association_bytes, matcher.degree_bytes
    return {
        LIST: {"lists": association, "degrees": degrees},
        MATRIX: {"a matrix": association},
        IN_BITS: {"degrees in 4 bits": degrees},
    }[name]


def _shares(seconds: Sequence[float], of: Sequence[float]) -> list[float]:
    return [each / of[-1] for each in seconds]


def _load(matcher: Grows, subscriptions: Sequence[Subscription]) -> None:
    for subscription in subscriptions:
        matcher.add(subscription)


def _match(matcher: Scan | Index | TwoStage, readers: Sequence[Reader]) -> None:
    for read in readers:
        matcher.match(read)


def _match_block(index: Index, readers: Sequence[Reader]) -> None:
    index.match_block(Block.of_readers(readers))


def _seconds(work: Callable[[], object]) -> float:
    """Of this processor, whatever else the machine does."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _least_seconds(work: Callable[[], object], times: int = 3) -> float:
    """The first time it may be compiled or ordered."""
    work()
    return min(_seconds(work) for _ in range(times))


def _predicates_alone(run: Run) -> dict[str, float]:
    """The first stage and the loading, where every subscription has functions of its own."""
    size = run.pick(full=4_000, quick=1_000)
    workload = Workload(run.draws("own"), 1, PUBLICATIONS)
    readers = workload.readers_as()
    subscriptions = [*_own_functions(run, size)]
    matching, loading, evaluated = [], [], []
    for sorts in (False, True):
        make = partial(TwoStage, workload.vocabulary, sorts=sorts)
        loading.append(_least_seconds(partial(_load_new, make, subscriptions), times=2))
        matcher = make()
        _load(matcher, subscriptions)
        matching.append(_least_seconds(partial(_evaluate, matcher, readers)))
        evaluated.append(matcher.evaluated)
    return {
        "sorted over unsorted, predicates alone": matching[1] / matching[0],
        "sorted over unsorted, predicates evaluated": evaluated[1] / evaluated[0],
        "sorted over unsorted, loading": loading[1] / loading[0],
    }


def _load_new(make: Callable[[], Grows], subscriptions: Sequence[Subscription]) -> None:
    _load(make(), subscriptions)


def _evaluate(matcher: TwoStage, readers: Sequence[Reader]) -> None:
    for read in readers:
        for _ in matcher.predicates(read):
            pass


def _own_functions(run: Run, size: int) -> Iterator[Subscription]:
    draws = run.draws("functions")
    for number in range(size):
        of = draws.choice(ATTRIBUTES, 2, replace=False).tolist()
        parts = [f"a{at} is trapezoid({', '.join(map(repr, real(draws)))})" for at in of]
        yield Subscription(id=f"s{number}", where=" and ".join(parts))


def draw(measures: dict[str, Any], canvas: Canvas, _figure: object) -> None:
    axes = canvas.subplots(1, 3, width_ratios=[3, 3, 2])
    over = [size / 1000 for size in measures["subscriptions"]]
    names = (SCAN, LIST, SORTED, MATRIX, IN_BITS, BLOCK)
    for one, what, more in ((axes[0], "matching", [ONE_BY_ONE]), (axes[1], "loading", [])):
        draw_lines(one, over, {name: measures[f"{what}, {name}"] for name in (*names, *more)})
        one.set_yscale("log")
        one.set_xlabel("subscriptions (thousands)")
        one.set_title(f"time of {what}", fontsize=9)
    axes[0].set_ylabel(f"share of the plain matcher's at {over[-1]:g} thousand")
    memory = {
        name.removeprefix("bytes of "): value
        for name, value in measures.items()
        if name.startswith("bytes of ")
    }
    bars = axes[2].barh(range(len(memory)), [*memory.values()], color=INKS[0])
    axes[2].bar_label(bars, fmt="%.3g", padding=2)
    axes[2].set_yticks(range(len(memory)), memory)
    axes[2].invert_yaxis()
    axes[2].set_xlim(right=1.2 * max(memory.values()))
    axes[2].set_xlabel("bytes a subscription")
    axes[2].set_axisbelow(True)
    axes[2].set_title("memory", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4)
