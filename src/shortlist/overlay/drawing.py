"""The network as an image: SVG, with the traffic of each link as its width."""

from collections.abc import Iterator, Mapping
from html import escape
from math import cos, hypot, pi, sin

from shortlist.overlay.report import Report
from shortlist.overlay.topology import Topology

MARGIN = 70
LEAST_RADIUS = 180
ROOM = 52
"""Around the circle, for each broker on it."""
WIDEST = 7.0
BROKER = 6
NEARER = 0.35
"""Where a count stands, as a share of its link."""
STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}"
    ".link{stroke:#4477aa;stroke-linecap:round}.idle{stroke:#ccc;stroke-dasharray:4 4}"
    ".direct{stroke:#ee6677;stroke-opacity:.5;fill:none}"
    ".count{font-size:10px;fill:#4477aa}.halo{stroke:#fff;stroke-width:3px;paint-order:stroke}"
)

Point = tuple[float, float]
Places = Mapping[str, Point]


def drawn(topology: Topology, report: Report) -> str:
    """An SVG document: brokers, their links with what went over them, and in red what went
    directly from broker to broker.

    >>> from shortlist.overlay.report import Traffic
    >>> from shortlist.overlay.topology import star
    >>> image = drawn(star(2), Report("covering", [], Traffic()))
    >>> image.startswith("<svg"), image.count("class='idle'")
    (True, 2)
    """
    ends = [name for name in topology.brokers if len(topology.tree.neighbours[name]) < 2]
    radius = max(LEAST_RADIUS, ROOM * len(ends) / (2 * pi))
    middle = radius + MARGIN
    places = layout(topology, radius, middle)
    traffic = report.traffic
    title = f"{report.strategy}: {traffic.total:,} messages, {len(report.deliveries):,} deliveries"
    width, height = round(2 * middle), round(2 * middle) + 30
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}'>",
        f"<style>{STYLE}</style><rect width='100%' height='100%' fill='white'/>",
        *_direct(places, report),
        *_links(topology, places, report),
        *_counts(topology, places, report),
        *_brokers(places, middle),
        _text((middle, height - 15), title, ""),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def layout(topology: Topology, radius: float, middle: float) -> Places:
    """Where brokers stand: those with one link on a circle, in the order in which a walk through
    the tree from its centre meets them, every other one between those that it leads to."""
    tree = topology.tree
    centre = min(topology.brokers, key=lambda name: max(tree.depths(name).values()))
    depths = tree.depths(centre)
    leads_to: dict[str, list[str]] = {name: [] for name in topology.brokers}
    leaves = [
        name
        for name in _walk(tree, centre)
        if len(tree.neighbours[name]) < (1 if name == centre else 2)
    ]
    for leaf in leaves:
        for name in tree.path(centre, leaf):
            leads_to[name].append(leaf)
    angles = {name: 2 * pi * place / len(leaves) for place, name in enumerate(leaves)}
    places = {}
    for name, depth in depths.items():
        below = leads_to[name]
        angle = sum(angles[leaf] for leaf in below) / len(below)
        share = depth / max(depths[leaf] for leaf in below) if depth else 0.0
        far = radius * share
        places[name] = middle + far * cos(angle), middle + far * sin(angle)
    return places


def _walk(tree: Topology, name: str, above: str | None = None) -> Iterator[str]:
    yield name
    for other in tree.neighbours[name]:
        if other != above:
            yield from _walk(tree, other, name)


def _direct(places: Places, report: Report) -> Iterator[str]:
    most = max(report.traffic.direct.values(), default=1)
    for (one, other), count in sorted(report.traffic.direct.items()):
        (x1, y1), (x2, y2) = places[one], places[other]
        bend = (x1 + x2) / 2 + (y2 - y1) / 6, (y1 + y2) / 2 - (x2 - x1) / 6
        yield (
            f"<path class='direct' stroke-width='{_width(count, most):.1f}' "
            f"d='M{x1:.1f} {y1:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {x2:.1f} {y2:.1f}'/>"
        )


def _links(topology: Topology, places: Places, report: Report) -> Iterator[str]:
    most = max(report.traffic.links.values(), default=1)
    for one, other in topology.links:
        count = report.traffic.links[min(one, other), max(one, other)]
        (x1, y1), (x2, y2) = places[one], places[other]
        kind, width = ("link", _width(count, most)) if count else ("idle", 1.0)
        yield (
            f"<line class='{kind}' x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
            f"stroke-width='{width:.1f}'/>"
        )


def _counts(topology: Topology, places: Places, report: Report) -> Iterator[str]:
    """On each link, nearer to the end with fewer links: there is more room."""
    for link in topology.links:
        count = report.traffic.links[min(link), max(link)]
        ends = sorted(link, key=lambda name: len(topology.neighbours[name]))
        (x1, y1), (x2, y2) = (places[name] for name in ends)
        if count:
            place = x1 + (x2 - x1) * NEARER, y1 + (y2 - y1) * NEARER + 4
            yield _text(place, f"{count:,}", "count halo")


def _brokers(places: Places, middle: float) -> Iterator[str]:
    """Names stand outwards of their brokers."""
    for name, (x, y) in places.items():
        yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{BROKER}' fill='#222'/>"
        far = hypot(x - middle, y - middle)
        out = ((x - middle) / far, (y - middle) / far) if far > 1 else (0.0, -1.0)
        side = "start" if out[0] > 0.3 else "end" if out[0] < -0.3 else "middle"
        place = x + out[0] * (BROKER + 6), y + out[1] * (BROKER + 10) + 4
        yield _text(place, name, "halo", side)


def _width(count: int, most: int) -> float:
    return 1.0 + (WIDEST - 1.0) * count / most


def _text(place: Point, text: str, kind: str, side: str = "middle") -> str:
    x, y = place
    return (
        f"<text class='{kind}' x='{x:.1f}' y='{y:.1f}' text-anchor='{side}'>{escape(text)}</text>"
    )
