"""What tells states and readings of Spark's tables apart, of the tables on the way to people, too."""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest

from discreet.data.catalog.policy_file import loads
from discreet.data.engines.files import ContentHashes
from discreet.errors import CatalogError, EngineFailed, UnknownName
from discreet.privacy.kernel.canonical import CanonicalRecipe
from discreet.privacy.kernel.sources import every_path
from engines import SPARK, engine_place
from permits import paid
from unit_paths_kit import opened, shop, toml

pytestmark = pytest.mark.spark


def origins(place, *, leave_out: str = "", **words):
    from discreet.data.engines.spark.sources import SparkOrigins

    catalog = loads(toml(place, whole=True), base=place.base)
    sources = {name: source for name, source in catalog.sources.items() if name != leave_out}
    paths = every_path(catalog.datasets.values(), SPARK)
    return SparkOrigins(
        sources, place.base, **{"encodings": {}, "paths": paths, "cells": {}, **words}
    )


def rewrite(folder, name: str, seed: int) -> None:
    """Replace a file the way programs do: written aside, then renamed."""
    pq.write_table(shop(random.Random(seed), texts=False)[name], folder / "rough")
    (folder / "rough").replace(folder / f"{name}.parquet")


def told(found, name: str) -> tuple[object, ...]:
    return found.facts(name, lambda _: []), found.content(name, ContentHashes(None), lambda _: [])


@pytest.fixture
def place(tmp_path):
    return engine_place("spark", shop(random.Random(3), texts=False), tmp_path)


def _seen_of_another_order(place) -> dict[str, list[bool]]:
    found = origins(place)
    tables = ("shop.orders", "shop.items", "shop.returns")
    before = {name: told(found, name) for name in tables}
    rewrite(place.base, "orders", 4)
    after = {name: told(found, name) for name in tables}
    return {
        name: [one != two for one, two in zip(before[name], after[name], strict=True)]
        for name in tables
    }


def test_a_change_on_the_way_to_people_is_a_change_of_the_table(place):
    seen = _seen_of_another_order(place)
    assert all(all(changed) for changed in seen.values())


def test_a_table_that_minds_its_own_files_alone_is_caught(place, monkeypatch):
    """The twin: rows of other people under the label of before."""
    monkeypatch.setattr(
        "discreet.data.engines.spark.sources.SparkOrigins._read_for", lambda _, name: (name,)
    )
    seen = _seen_of_another_order(place)
    assert seen["shop.orders"] == [True, True]
    assert seen["shop.items"] == seen["shop.returns"] == [False, False]


def test_a_reading_is_a_path_and_an_encoding_and_cells(place):
    plain = origins(place).reading("shop.items")
    assert origins(place).reading("shop.items") == plain
    for other in (
        origins(place, paths={}),
        origins(place, encodings={"shop.orders": "latin-1"}),
        origins(place, encodings={"shop.items": "latin-1"}),
    ):
        assert other.reading("shop.items") != plain


def test_the_same_files_over_another_path_are_another_content(place):
    """One label for both would let the rows of one path be answered from a copy of the other."""
    text = toml(place, whole=True)
    contents = set()
    for said in (text, text.replace('"order_no -> orders', '"id -> orders')):
        paths = every_path(loads(said, base=place.base).datasets.values(), SPARK)
        contents.add(told(origins(place, paths=paths), "shop.items")[1])
    assert len(contents) == 2


def test_a_path_over_a_table_that_is_not_there_is_refused(place):
    with pytest.raises(UnknownName):
        origins(place, leave_out="shop.orders")


def test_a_key_that_is_not_there_is_refused(place):
    text = toml(place, whole=True).replace("order_no ->", "order_nr ->")
    engine = opened(place, text)
    with pytest.raises(CatalogError, match="order_nr"):
        engine.columns("shop.items")
    engine.close()


def test_a_change_on_the_way_fails_the_question_that_reads_meanwhile(place):
    text = toml(place, whole=True)
    catalog, engine = loads(text, base=place.base), opened(place, text)
    dataset = catalog.datasets["shop"]
    recipes = {"shop.items": CanonicalRecipe(dataset, catalog.table("items", "shop"))}
    sql = "SELECT COUNT(*) AS n FROM `shop.items` AS t"
    with engine.hold(recipes) as held:
        label = held.fingerprints["shop.items"]
        paid(held).run(sql)
        rewrite(place.base, "orders", 4)
        with pytest.raises(EngineFailed):
            paid(held).run(sql)
    with engine.hold(recipes) as again:
        assert again.fingerprints["shop.items"] != label
        paid(again).run(sql)
    engine.close()
