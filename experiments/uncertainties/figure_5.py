"""Figure 5: the necessity as its algorithm prints it, beside the definition and its properties.

The definition says N = inf max(μ, 1 − π), the listing of Figure 5 inf max(μ, π). The system follows
the definition. Predicates and published values are trapezoids that are drawn as for Table 2; what
is checked are the properties (1) to (5) of section 3.2, and the two ways in which the paper relates
necessity and possibility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from experiments.uncertainties.matching import index_of
from experiments.uncertainties.workload import Corners, real, whole
from shortlist.experiments.picture import INKS
from shortlist.experiments.run import Run
from shortlist.fuzzy.sets import Trapezoid
from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Degrees = npt.NDArray[np.float64]
EMPTY = Vocabulary()
ROUNDED = 2e-9
"""Degrees have nine decimals."""


def measure(run: Run) -> dict[str, Any]:
    predicates, values = run.pick(full=(300, 300), quick=(100, 100))
    draws = run.draws("trapezoids")
    # half of the corners are whole, so that cores and supports touch now and then
    asked = [(real, whole)[n % 2](draws) for n in range(predicates)]
    published = [(real, whole)[n % 2](draws) for n in range(values)]
    return run.point("Degrees", lambda: _compared(asked, published))


def _compared(asked: list[Corners], published: list[Corners]) -> dict[str, Any]:
    possibility, necessity = _degrees("is", asked, published)
    other_possibility, _ = _degrees("is not", asked, published)
    printed = np.array([[printed_necessity(m, n) for m in asked] for n in published])
    m1, m2, m3, m4 = np.array(asked).T
    n1, n2, n3, n4 = (each[:, np.newaxis] for each in np.array(published).T)
    cores_meet = (m2 <= n3) & (n2 <= m3)
    core_outside = (n2 < m1) | (n3 > m4) | ((n2 == m1) & (m1 < m2)) | ((n3 == m4) & (m3 < m4))
    inside = (n1 >= m2) & (n4 <= m3)
    apart = (m4 < n1) | (n4 < m1)
    return {
        "possibility under necessity": _share(possibility < necessity),
        "possibility under printed necessity": _share(possibility < printed),
        "apart, yet possible": _share((possibility > 0) & apart),
        "cores meet, yet not wholly possible": _share(cores_meet != (possibility == 1)),
        "core outside, yet necessary": _share(core_outside & (necessity > 0)),
        "within the core, yet not necessary": _share(inside != (necessity == 1)),
        "within the core, yet printed as not necessary": _share(inside & (printed < 1)),
        "necessity above 0": _share(necessity > 0),
        "printed necessity above 0": _share(printed > 0),
        "necessity as printed": _share(np.abs(necessity - printed) < ROUNDED),
        "necessity is 1 - possibility": _share(np.abs(necessity - (1 - possibility)) < ROUNDED),
        "necessity is 1 - possibility of not": _share(
            np.abs(necessity - (1 - other_possibility)) < ROUNDED
        ),
    }


def _degrees(
    operator: str, asked: list[Corners], published: list[Corners]
) -> tuple[Degrees, Degrees]:
    """By published value and predicate: what the system says."""
    subscriptions = [
        Subscription(id=f"{n:05}", where=f"x {operator} trapezoid({', '.join(map(repr, corners))})")
        for n, corners in enumerate(asked)
    ]
    values = Values(EMPTY)
    block = Block.of_readers(
        [
            values.of(
                Publication(
                    id=str(n), source="s", time=n, position=n, data={"x": {"trapezoid": [*corners]}}
                )
            )
            for n, corners in enumerate(published)
        ]
    )
    index = index_of(subscriptions, EMPTY)
    found = index.match_block(block)
    possibility = np.zeros((len(published), len(asked)))
    necessity = np.zeros_like(possibility)
    names = [int(index.numbering.names[number]) for number in found.subscriptions.tolist()]
    possibility[found.publications, names] = found.possibility
    necessity[found.publications, names] = found.necessity
    return possibility, necessity


def printed_necessity(asked: Corners, published: Corners) -> float:
    """inf max(μ, π): both are straight between corners, so that a corner or a crossing is least.

    >>> printed_necessity([1, 2, 3, 4], [1, 2, 3, 4])
    0.0
    """
    (m1, m2, m3, m4), (n1, n2, n3, n4) = asked, published
    mu, pi = Trapezoid(m1, m2, m3, m4), Trapezoid(n1, n2, n3, n4)
    beyond = max(m4, n4) + 1.0
    return min(max(mu.membership(x), pi.membership(x)) for x in (*asked, *published, beyond))


def _share(which: npt.NDArray[np.bool_]) -> float:
    return float(which.mean())


def draw(measures: dict[str, Any], canvas: Canvas, _figure: object) -> None:
    axes = canvas.subplots()
    shares = {name: 100 * share for name, share in measures.items()}
    bars = axes.barh(range(len(shares)), [*shares.values()], color=INKS[0])
    axes.bar_label(bars, fmt="%.3g", padding=3)
    axes.set_yticks(range(len(shares)), shares)
    axes.invert_yaxis()
    axes.set_xlim(0, 110)
    axes.set_axisbelow(True)
    axes.set_xlabel("share of pairs of a predicate and a published value (%)")
