"""Movies for MovieLens users: what is held out stays out, and quality is what was rated."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments.combined.films import DATA, KNOWN, Films, Rating
from experiments.combined.quality import Judge
from shortlist.experiments.run import Ranked, Run
from shortlist.jobs.process import InProcess
from shortlist.measures.spread import entropy
from shortlist.progress import Steps

USERS, MOVIES = 8, 60


@pytest.fixture
def run(tmp_path: Path) -> Run:
    draws = np.random.default_rng(2)
    genres = [draws.choice(["Drama", "Comedy", "War"], 2, replace=False) for _ in range(MOVIES)]
    lines = []
    for user in range(USERS):
        for place, movie in enumerate(draws.permutation(MOVIES)[:40]):
            stars = draws.integers(1, 11) / 2
            named = "|".join(genres[movie])
            lines.append(f"{movie},m{movie},1994,{named},{user},{stars},{place * 100 + user}")
    draws.shuffle(lines)
    with gzip.open(tmp_path / f"{DATA}.csv.gz", "wt") as file:
        file.write("movieId,title,year,genres,userId,rating,timestamp\n" + "\n".join(lines) + "\n")
    return Run(InProcess(), Steps(Console(), True), tmp_path / "kept", True, 0, tmp_path)


def test_the_later_ratings_of_each_user_are_held_out(run: Run) -> None:
    films = Films.of(run)
    rows = run.data(DATA).to_pylist()
    times = {(row["userId"], row["movieId"]): row["timestamp"] for row in rows}
    for user in range(USERS):
        known = [times[user, each.movie] for each in films.known if each.user == user]
        held_out = [times[user, each.movie] for each in films.held_out if each.user == user]
        assert len(known) == int(KNOWN * 40)
        assert len(known) + len(held_out) == 40
        assert max(known) < min(held_out)


def test_what_is_held_out_changes_nothing_that_the_system_sees(run: Run) -> None:
    films = Films.of(run)
    others = [Rating(user, movie, 5.5 - stars) for user, movie, stars in films.held_out]
    changed = Films(films.movies, films.known, others)
    policy = {"kind": "top-k", "k": 3, "refresh": "1h"}
    assert films.registry(policy) == changed.registry(policy)
    assert films.publications(run) == changed.publications(run)


def test_quality_is_that_of_what_was_delivered(run: Run) -> None:
    films = Films.of(run)
    judge = Judge.of(films)
    publications = films.publications(run)
    everything = run.rank(films.registry({"kind": "everything"}), publications)
    best = run.rank(films.registry({"kind": "top-k", "k": 1, "refresh": "20m"}), publications)
    means, favourites = judge.matched_means(everything), judge.matched_favourites(everything)
    whole = judge.quality(everything, means, favourites)
    assert whole.gain == pytest.approx(0, abs=1e-9)
    assert whole.favourites == 1
    found = judge.quality(best, means, favourites)
    matched, came = _rated(films, everything), _rated(films, best)
    assert found.delivered == best.report["deliveries"] < whole.delivered
    assert (found.judged, whole.judged) == (len(came), len(matched))
    assert found.stars == pytest.approx(np.mean([each.stars for each in came]))
    own = {
        user: np.mean([each.stars for each in matched if each.user == user])
        for user in {each.user for each in matched}
    }
    assert found.gain == pytest.approx(np.mean([each.stars - own[each.user] for each in came]))
    assert found.variety == pytest.approx(_variety(films, best))


def test_an_audience_is_bounded(run: Run) -> None:
    films = Films.of(run)
    ranked = run.rank(films.registry({"kind": "everything"}, audience=2), films.publications(run))
    counted = ranked.deliveries["publication"].value_counts().field(1)
    assert max(counted.to_pylist()) == 2


def _rated(films: Films, ranked: Ranked) -> list[Rating]:
    columns = (ranked.deliveries[name].to_pylist() for name in ("shortlist", "publication"))
    came = {*zip(*columns, strict=True)}
    return [each for each in films.held_out if (str(each.user), str(each.movie)) in came]


def _variety(films: Films, ranked: Ranked) -> float:
    counts: dict[str, dict[str, int]] = {}
    interests = films.interests()
    for row in ranked.deliveries.select(["shortlist", "publication"]).to_pylist():
        for genre in films.movies[int(row["publication"])].genres:
            if (int(row["shortlist"]), genre) in interests:
                user = counts.setdefault(row["shortlist"], {})
                user[genre] = user.get(genre, 0) + 1
    return float(np.mean([entropy([*user.values()]) for user in counts.values()]))
