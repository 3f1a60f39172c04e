"""A recommender: one bounded vector a person, charged first, better than means and levels."""

from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from copying import MemoryEngine
from discreet.base.unit import Neighbours
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.errors import EngineFailed, InvalidInput, UnknownName
from discreet.measure.columns import Coded, scan_of
from discreet.privacy.kernel.facts import unit_codes_of
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.seal import parse
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import SeededRng
from discreet.work.learn import recommender
from discreet.work.learn.model_files import read_model, write_model
from discreet.work.learn.private_rows import seal_unit_codes
from discreet.work.learn.recommender import (
    FINE,
    Payment,
    PersonRatings,
    fetch_ratings,
    item_means,
    leaning_products,
)

TOML = """
[datasets.club]
epsilon = 100
delta = 1e-5
[datasets.club.tables.ratings]
source = "ratings.parquet"
unit = "person"
max_rows = 30
version = 1
[datasets.club.tables.ratings.columns]
person = { type = "identifier" }
film = { type = "integer", lower = 1, upper = 20 }
stars = { type = "integer", lower = 1, upper = 5 }
"""
LEVELS = np.linspace(-1, 1, 5)


@cache
def club(people=1500, seed=0):
    """Return ratings of 20 films by people who like either the odd or the even ones."""
    rng = np.random.default_rng(seed)
    person, film, stars = [], [], []
    for who in range(people):
        taste = rng.choice([-1, 1])
        for which in rng.choice(20, 10, replace=False):
            person.append(who)
            film.append(int(which) + 1)
            stars.append(
                int(
                    np.clip(
                        np.rint(3 + taste * (1 if which % 2 else -1) + rng.normal(0, 0.5)), 1, 5
                    )
                )
            )
    return pa.table({"person": person, "film": film, "stars": stars})


def curator(base, table=None):
    known = loads(TOML, base=base)
    ledger = Ledger.open(known.ledger_url, policy_of(known), base=base)
    engine = MemoryEngine({"club.ratings": club() if table is None else table})
    return Curator(known, ledger=ledger, engine=engine, rng=SeededRng(2))


def viewers(people=100, seed=9):
    table = club(people, seed=seed).to_pandas()
    return [
        (rows["film"].to_numpy() - 1, rows["stars"].to_numpy().astype(float))
        for _, rows in table.groupby("person")
    ]


def error(predict, people):
    """Return the squared error of every fifth rating of each viewer, told from the others."""
    gaps = []
    for item, rating in people:
        out = np.arange(len(item)) % 5 == 0
        if not out.all():
            gaps.append(predict(item[~out], rating[~out], item[out]) - rating[out])
    return float((np.concatenate(gaps) ** 2).mean())


def test_it_beats_means_and_levels(tmp_path):
    found = curator(tmp_path).recommend("ratings", item="film", rating="stars", epsilon=5)
    model, base = (
        error(predict, viewers()) for predict in (found.model.predict, found.model.baseline)
    )
    assert model < 0.8**2 * base
    liked = found.model.recommend({"1": 5, "3": 5, "2": 1}, count=3)
    assert all(int(name) % 2 for name, _ in liked)


def test_kept_charged_once_and_refused_with_a_sentence(tmp_path):
    asked = curator(tmp_path)
    first = asked.recommend("ratings", item="film", rating="stars", epsilon=5, request_id="r")
    again = asked.recommend("ratings", item="film", rating="stars", epsilon=5, request_id="r")
    assert again.free
    assert again.model.to_json() == first.model.to_json()
    assert first.to_json()["after"] == first.to_json()["budget"]["after"]
    assert again.to_json()["budget"]["after"] == first.to_json()["after"]
    write_model(first.model, tmp_path / "r.zip")
    assert read_model(tmp_path / "r.zip").to_json() == first.model.to_json()
    with pytest.raises(UnknownName):
        asked.recommend("ratings", item="nothing", rating="stars", epsilon=1)
    with pytest.raises(InvalidInput, match="no item"):
        first.model.recommend({"99": 5})
    asked.engine.answers = None
    with pytest.raises(EngineFailed):
        asked.recommend("ratings", item="film", rating="stars", epsilon=5)


def random_ratings(rng, people):
    parts = [rng.choice(20, rng.integers(1, 20), replace=False) for _ in range(people)]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    item = np.concatenate(parts)
    return PersonRatings(item, rng.integers(0, 5, len(item)), starts)


def without(ratings, who):
    ends = np.append(ratings.starts[1:], len(ratings.item))
    keep = np.ones(len(ratings.item), dtype=bool)
    keep[ratings.starts[who] : ends[who]] = False
    size = ends[who] - ratings.starts[who]
    later = np.delete(ratings.starts, who)
    later = np.where(later > ratings.starts[who], later - size, later)
    return PersonRatings(ratings.item[keep], ratings.level[keep], later)


class Silent:
    """Noise that is none: what is left is the exact sum."""

    def noisy(self, total, _law, _rng):
        return total


@pytest.mark.parametrize("broken", [False, True])
def test_a_person_moves_sums_by_at_most_the_length(monkeypatch, broken):
    """The twin without the kernel's clipping is caught."""
    monkeypatch.setattr(recommender.VectorSum, "noisy", Silent.noisy)
    if broken:
        monkeypatch.setattr(
            recommender.VectorSum,
            "add",
            lambda _, v: np.trunc(3 * np.asarray(v)).sum(axis=0).astype(int),
        )
    pay = Payment(Fraction(1), Neighbours.ADD_REMOVE, SeededRng(0))
    rng = np.random.default_rng(3)
    worst = {"means": 0.0, "products": 0.0}
    for _ in range(20):
        ratings = random_ratings(rng, 6)
        means = rng.normal(0, 3, 20)
        fewer = without(ratings, int(rng.integers(6)))
        a = np.concatenate(item_means(ratings, LEVELS, 20, pay)[:2])
        b = np.concatenate(item_means(fewer, LEVELS, 20, pay)[:2])
        worst["means"] = max(worst["means"], float(np.linalg.norm(a - b)))
        top = np.arange(8)
        p, q = (leaning_products(r, LEVELS, means, top, pay)[:2] for r in (ratings, fewer))
        gap = np.concatenate([(p[0] - q[0]) / recommender.SPREAD**2, p[1] - q[1]])
        worst["products"] = max(worst["products"], float(np.linalg.norm(gap)))
    over = worst["means"] > float(recommender.MEANS_LENGTH) + 1e-9
    over |= worst["products"] > float(recommender.PRODUCTS_LENGTH) + 40 / FINE
    assert bool(over) is broken


def test_the_read_names_its_unit_or_is_refused(tmp_path):
    asked = curator(tmp_path)
    scan = scan_of(asked.catalog, "club.ratings")
    columns = {c.name: Coded(c.name, c.domain) for c in scan.table.columns if c.name != "person"}
    sealed = seal_unit_codes(scan, asked.engine, [columns["film"], columns["stars"]])
    assert sealed.rows == 30
    from discreet.ask.release.sealing import declared_scans

    scans = declared_scans([(scan.dataset, scan.table)], asked.engine)
    other = sealed.sql.replace("p.u AS u", "p.p0 AS u")
    with pytest.raises(Unfit):
        unit_codes_of(parse(other, "duckdb", asked.engine.tree(other)), (20, 5), scans)
    with pytest.raises(TypeError, match="charge"):
        fetch_ratings(None, sealed)
