from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.lab.town import parameters as p
from discreet.lab.town import studies as recipe
from discreet.lab.town.studies import make_films, rating_batches, user_count


@pytest.fixture(scope="module")
def ratings():
    table = pa.Table.from_batches(rating_batches(2, 400_000))
    return {name: table[name].to_numpy() for name in table.column_names}


def test_exactly_as_many_as_asked_and_no_pair_twice(ratings):
    pairs = ratings["user_id"] * 100_000 + ratings["film_id"]
    assert len(pairs) == len(np.unique(pairs)) == 400_000
    assert len(np.unique(ratings["user_id"])) >= 1_990
    assert user_count(1_000_000) == 5_000
    assert set(ratings["rating"]) == {1, 2, 3, 4, 5}
    assert ratings["film_id"].min() >= 1
    assert ratings["film_id"].max() <= p.FILMS


def test_chunks_of_users_add_up(monkeypatch):
    monkeypatch.setattr(recipe, "USERS_A_CHUNK", 400)
    batches = list(rating_batches(0, 123_457))
    assert len(batches) == 2
    assert sum(batch.num_rows for batch in batches) == 123_457
    last_of_first = batches[0]["user_id"].to_numpy().max()
    assert batches[1]["user_id"].to_numpy().min() > last_of_first


def test_popularity_is_long_tailed(ratings, assert_shares):
    # People with few ratings hardly ever draw a film twice, so theirs follow the law itself.
    given = np.bincount(ratings["user_id"])
    films = ratings["film_id"][given[ratings["user_id"]] < 60] - 1
    popularity = make_films(2).popularity
    order = np.argsort(-popularity)
    rank = np.empty(p.FILMS, dtype=int)
    rank[order] = np.arange(p.FILMS)
    edges = np.concatenate([[0], np.geomspace(20, p.FILMS, 20).astype(int)])
    bins = np.searchsorted(edges, rank[films], side="right") - 1
    shares = np.add.reduceat(popularity[order], edges[:-1])
    flatter = np.add.reduceat(popularity[order] ** 0.8, edges[:-1])
    assert_shares(np.bincount(bins, minlength=20), shares, wrong=[flatter, np.diff(edges)])


def test_some_people_rate_far_more_than_others(ratings):
    given = np.bincount(ratings["user_id"])[1:]
    assert np.median(given) < 170
    assert np.quantile(given, 0.99) > 4 * np.median(given)


def test_dates_come_in_sessions(ratings):
    day = ratings["date"].astype("datetime64[D]").astype(int)
    session = np.unique(ratings["user_id"] * 100_000 + day, return_counts=True)[1]
    assert session.mean() > 8
    alone = np.random.default_rng(0).permutation(day)
    assert np.unique(ratings["user_id"] * 100_000 + alone, return_counts=True)[1].mean() < 2
    assert ratings["date"].min() >= np.datetime64(p.RATING_FIRST_DAY)
    assert ratings["date"].max() <= np.datetime64(p.RATING_LAST_DAY)


def test_better_films_get_better_ratings(ratings):
    films = make_films(2)
    given = np.bincount(ratings["film_id"] - 1, minlength=p.FILMS)
    mean = np.bincount(ratings["film_id"] - 1, weights=ratings["rating"], minlength=p.FILMS)
    often = given > 200
    fit = np.corrcoef(mean[often] / given[often], films.quality[often])[0, 1]
    assert fit > 0.9
    shuffled = np.random.default_rng(0).permutation(films.quality[often])
    assert abs(np.corrcoef(mean[often] / given[often], shuffled)[0, 1]) < 0.3


def test_one_rating_is_possible():
    assert sum(batch.num_rows for batch in rating_batches(0, 1)) == 1
