"""What full runs found, as it stands beside the experiments, and the gallery that is made of it."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Canvas

from shortlist.experiments.papers import Experiments
from shortlist.experiments.reproducing import PICTURES, gallery, stored

ROOT = Path(__file__).parents[2]
EXPERIMENTS = Experiments(ROOT / "experiments")
OUTCOMES = stored(EXPERIMENTS)
LARGEST_PICTURE = 250_000


def test_every_figure_has_a_result() -> None:
    assert [*OUTCOMES] == EXPERIMENTS.chosen(None, None)


@pytest.mark.parametrize(("paper", "figure"), OUTCOMES)
def test_a_result_is_judged_as_it_says(paper: str, figure: str) -> None:
    document = json.loads((EXPERIMENTS.results(paper) / f"{figure}.json").read_bytes())
    outcome = OUTCOMES[paper, figure]
    assert document["size"] == "full"
    assert document == outcome.document()
    unexplained = [
        claim.says for claim, verdict in outcome.verdicts if not (verdict.agrees or claim.because)
    ]
    assert unexplained == []


@pytest.mark.parametrize(("paper", "figure"), OUTCOMES)
def test_a_result_can_be_drawn(paper: str, figure: str) -> None:
    outcome, canvas = OUTCOMES[paper, figure], Canvas()
    EXPERIMENTS.entry(paper, figure).draw(outcome.measures, canvas, outcome.figure)
    assert canvas.axes
    for ending in PICTURES:
        picture = EXPERIMENTS.results(paper) / f"{figure}{ending}"
        assert 0 < picture.stat().st_size < LARGEST_PICTURE


def test_the_gallery_is_made_of_what_stands_there() -> None:
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == gallery(EXPERIMENTS)
