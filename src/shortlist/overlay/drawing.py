"""The network as an image: SVG, with the traffic of each link as its width."""

from collections.abc import Mapping
from html import escape
from math import cos, log1p, pi, sin

from shortlist.overlay.report import Report
from shortlist.overlay.topology import Topology

SIZE = 760
MARGIN = 80
WIDEST = 14.0
BROKER = 7
STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}"
    ".link{stroke:#4477aa;stroke-linecap:round}.idle{stroke:#cccccc;stroke-dasharray:4 4}"
    ".direct{stroke:#ee6677;stroke-opacity:.45;fill:none}.broker{fill:#222}"
    ".count{font-size:10px;fill:#225}.halo{stroke:#fff;stroke-width:3px;paint-order:stroke}"
)


def drawn(topology: Topology, report: Report) -> str:
    """An SVG document: brokers, their links with what went over them, and in red what went
    directly from broker to broker.

    >>> from shortlist.overlay.report import Traffic
    >>> from shortlist.overlay.topology import star
    >>> image = drawn(star(2), Report("covering", [], Traffic()))
    >>> image.startswith("<svg"), image.count("class='idle'")
    (True, 2)
    """
    places = layout(topology)
    traffic = report.traffic
    most = max([*traffic.links.values(), *traffic.direct.values()], default=1)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {SIZE} {SIZE + 40}' "
        f"width='{SIZE}' height='{SIZE + 40}'>",
        f"<style>{STYLE}</style><rect width='100%' height='100%' fill='white'/>",
    ]
    for (one, other), count in sorted(traffic.direct.items()):
        (x1, y1), (x2, y2) = places[one], places[other]
        bend = f"{(x1 + x2) / 2 + (y2 - y1) / 6:.1f} {(y1 + y2) / 2 - (x2 - x1) / 6:.1f}"
        width = _width(count, most)
        parts.append(
            f"<path class='direct' stroke-width='{width:.1f}' "
            f"d='M{x1:.1f} {y1:.1f}Q{bend} {x2:.1f} {y2:.1f}'/>"
        )
    labels = []
    for link in topology.links:
        ends = (min(link), max(link))
        count = traffic.links[ends]
        (x1, y1), (x2, y2) = places[link[0]], places[link[1]]
        kind, width = ("link", _width(count, most)) if count else ("idle", 1.0)
        parts.append(
            f"<line class='{kind}' x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
            f"stroke-width='{width:.1f}'/>"
        )
        if count:
            labels.append(_text((x1 + x2) / 2, (y1 + y2) / 2 - 4, f"{count:,}", "count halo"))
    for name, (x, y) in places.items():
        parts.append(f"<circle class='broker' cx='{x:.1f}' cy='{y:.1f}' r='{BROKER}'/>")
        labels.append(_text(x, y - BROKER - 6, name, "halo"))
    title = f"{report.strategy}: {traffic.total:,} messages, {len(report.deliveries):,} deliveries"
    return "\n".join([*parts, *labels, _text(SIZE / 2, SIZE + 20, title, ""), "</svg>"]) + "\n"


def layout(topology: Topology) -> Mapping[str, tuple[float, float]]:
    """Where brokers stand: those with one link around a circle, as a walk through the tree meets
    them, and every other one between those that it leads to."""
    tree = topology.tree
    root = max(topology.brokers, key=lambda name: len(tree.neighbours[name]))
    order: list[str] = []
    levels: dict[str, int] = {root: 0}
    shares: dict[str, list[str]] = {name: [] for name in topology.brokers}
    way: list[str] = []

    def walk(name: str) -> None:
        way.append(name)
        below = [other for other in tree.neighbours[name] if other not in levels]
        for other in below:
            levels[other] = levels[name] + 1
            walk(other)
        if not below:
            order.append(name)
            for above in way:
                shares[above].append(name)
        way.pop()

    walk(root)
    angles = {name: 2 * pi * place / len(order) for place, name in enumerate(order)}
    deepest = max(levels.values()) or 1
    radius = SIZE / 2 - MARGIN
    places = {}
    for name in topology.brokers:
        mine = [angles[leaf] for leaf in shares[name]]
        angle = (mine[0] + mine[-1]) / 2
        far = radius * levels[name] / deepest
        places[name] = SIZE / 2 + far * cos(angle), SIZE / 2 + far * sin(angle)
    return places


def _width(count: int, most: int) -> float:
    return 1.0 + (WIDEST - 1.0) * log1p(count) / log1p(most)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return (
        f"<text class='{kind}' x='{x:.1f}' y='{y:.1f}' text-anchor='middle'>{escape(text)}</text>"
    )
