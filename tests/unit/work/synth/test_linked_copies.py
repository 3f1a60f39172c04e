"""Linked tables: keys join, people's rows are bounded by the SQL itself, nothing is paid twice."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.curator import Curator
from discreet.data.catalog.policy_file import load
from discreet.errors import InvalidInput
from discreet.measure.columns import Bins, outline_of
from discreet.testing import SeededRng
from discreet.work.synth.linked_model import linked_tables, pack_linked, unpack_linked
from discreet.work.synth.linked_rows import columns_of, seal_linked, tree_of
from discreet.work.synth.prepare import preview_of

TOML = """
[datasets.shop]
epsilon = 100
delta = 1e-6
[datasets.shop.tables.people]
source = "people.parquet"
unit = "id"
max_rows = 1
[datasets.shop.tables.people.columns]
id = { type = "identifier" }
sex = { type = "category", values = ["F", "M"] }
[datasets.shop.tables.orders]
source = "orders.parquet"
unit = "id"
max_rows = 4
[datasets.shop.tables.orders.columns]
nr = { type = "identifier" }
id = { type = "identifier" }
kind = { type = "category", values = ["a", "b"] }
[datasets.shop.tables.items]
source = "items.parquet"
unit = "id"
max_rows = 6
parent = "orders"
[datasets.shop.tables.items.columns]
nr = { type = "identifier" }
id = { type = "identifier" }
colour = { type = "category", values = ["red", "blue"] }
"""
PEOPLE = 1500


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Women order a, men b; items of a are red, of b blue. Person 0 has far too many of both."""
    place = tmp_path_factory.mktemp("linked")
    sex = np.arange(PEOPLE) % 2
    many = np.arange(PEOPLE) // 2 % 4
    many[0] = 50
    who = np.repeat(np.arange(PEOPLE), many)
    per_order = 1 + np.arange(len(who)) % 2
    which = np.repeat(np.arange(len(who)), per_order)
    pq.write_table(
        pa.table({"id": np.arange(PEOPLE), "sex": [("F", "M")[i] for i in sex]}),
        place / "people.parquet",
    )
    kind = [("a", "b")[i] for i in sex[who]]
    pq.write_table(
        pa.table({"nr": np.arange(len(who)), "id": who, "kind": kind}), place / "orders.parquet"
    )
    colour = [("red", "blue")[i] for i in sex[who][which]]
    pq.write_table(
        pa.table({"nr": which, "id": who[which], "colour": colour}), place / "items.parquet"
    )
    (place / "discreet.toml").write_text(TOML, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def made(folder):
    """A copy with seeded noise and seeded rows: what is said of it is so in every run."""
    with Curator(load(folder / "discreet.toml"), rng=SeededRng(1)) as curator:
        first, again = (
            curator.synthesize_linked("shop", epsilon=20, request_id="one") for _ in range(2)
        )
    return replace(first, tables=linked_tables(first.model, seed=1)), dict(again.to_json())


def test_keys_join_and_children_follow_their_parents(made):
    tables = {name: table.to_pydict() for name, table in made[0].tables.items()}
    sex = dict(zip(tables["people"]["id"], tables["people"]["sex"], strict=True))
    owner = dict(zip(tables["orders"]["nr"], tables["orders"]["id"], strict=True))
    kind = dict(zip(tables["orders"]["nr"], tables["orders"]["kind"], strict=True))
    assert len(sex) == len(tables["people"]["id"])
    assert set(tables["orders"]["id"]) <= set(sex)
    assert all(
        owner[nr] == person
        for nr, person in zip(tables["items"]["nr"], tables["items"]["id"], strict=True)
    )
    right = [
        (sex[person] == "F") == (value == "a")
        for person, value in zip(tables["orders"]["id"], tables["orders"]["kind"], strict=True)
    ]
    assert np.mean(right) > 0.9
    right = [
        (kind[nr] == "a") == (value == "red")
        for nr, value in zip(tables["items"]["nr"], tables["items"]["colour"], strict=True)
    ]
    assert np.mean(right) > 0.9


def test_parents_have_about_as_many_children_as_real_ones(made):
    tables = made[0].tables
    _, many = np.unique(tables["orders"].column("id").to_numpy(), return_counts=True)
    found = np.bincount(many, minlength=5)
    found[0] = tables["people"].num_rows - len(many)
    assert np.abs(found / found.sum() - np.array([0.25, 0.25, 0.25, 0.25, 0])).sum() / 2 < 0.05


def test_the_same_id_is_free_and_other_rows_are_too(made):
    first, again = made
    assert not first.free
    assert again["free"]
    assert again["cost"]["epsilon"] == 0
    assert first.sample(10)["people"].num_rows == 10
    kept = unpack_linked(pack_linked(first.model))
    ours, theirs = (linked_tables(each, 50, seed=3) for each in (first.model, kept))
    assert all(ours[name].equals(theirs[name]) for name in ours)
    assert again["agreement"] >= 1e-6


@pytest.mark.parametrize("most", [1, 2])
def test_no_person_has_more_rows_than_the_noise_is_for(folder, most):
    """Person 0 has 50 orders: the rows that are counted are few, whatever the tables say."""
    with discreet.open(folder) as curator:
        tree = tree_of(curator.catalog.datasets["shop"])
        encodings = {
            node.name: preview_of(
                outline_of(curator.catalog, f"shop.{node.name}", bins=Bins.EQUAL, has_delta=True)
            )
            for node in tree.tables
        }
        units = {}
        for node in tree.tables:
            columns = columns_of(node, tree, encodings)
            sealed = seal_linked(node, tree, columns, most, curator)
            units[node.name] = sealed.unit.rows
    assert units == {"people": 1, "orders": most, "items": most}


def test_a_folder_or_a_zip(made, tmp_path):
    made[0].write(tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "items.csv",
        "orders.csv",
        "people.csv",
    ]
    made[0].write(tmp_path / "out.zip")
    assert len(zipfile.ZipFile(tmp_path / "out.zip").namelist()) == 3
    assert json.dumps(made[0].to_json())


WRONG = {
    "no root": ("max_rows = 1", "max_rows = 2"),
    "two roots": ("max_rows = 4", "max_rows = 1"),
    "unknown parent": ('parent = "orders"', 'parent = "nowhere"'),
    "no shared key": ("[datasets.shop.tables.items.columns]\nnr =", "[datasets.shop.tables.items.columns]\nmr ="),
    "no bound": ("max_rows = 6\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_linked_is_refused_before_the_charge(folder, tmp_path, case):
    for name in ("people", "orders", "items"):
        (tmp_path / f"{name}.parquet").symlink_to(folder / f"{name}.parquet")
    (tmp_path / "discreet.toml").write_text(TOML.replace(*WRONG[case]), encoding="utf-8")
    with discreet.open(tmp_path) as curator:
        with pytest.raises(InvalidInput):
            curator.synthesize_linked("shop", epsilon=1)
        assert curator.ledger.spent("shop", None).epsilon == 0
