"""A copy of a table that reaches people over other tables, from the command and from the curator."""

from __future__ import annotations

import pytest

import discreet
from discreet.anonymize import source
from discreet.anonymize.source import declared_source, open_source
from discreet.errors import CatalogError

TOML = """
[datasets.shop]
epsilon = 100
[datasets.shop.tables.orders]
source = "orders.csv"
unit = "customer"
max_rows = 50
[datasets.shop.tables.orders.columns]
customer = { type = "integer", lower = 0, upper = 99, trim = true }
[datasets.shop.tables.items]
source = "items.csv"
unit = "order_no -> orders.number -> customer"
max_rows = 50
[datasets.shop.tables.items.columns]
price = { type = "integer", lower = 0, upper = 10 }
[datasets.shop.tables.other]
source = "nowhere.csv"
unit = "customer"
max_rows = 1
[datasets.shop.tables.other.columns]
customer = { type = "integer", lower = 0, upper = 99, trim = true }
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "orders.csv").write_text("number,customer\n1,7\n2,07\n3, 7\n4,8\n5,\n")
    rows = "".join(f"{order},{3 if order < 4 else 5}\n" for order in (1, 2, 3, 4, 4, 4, 5, 6))
    (tmp_path / "items.csv").write_text(f"order_no,price\n{rows}")
    (tmp_path / "nowhere.csv").write_text("customer\n1\n")
    (tmp_path / "discreet.toml").write_text(TOML)
    return tmp_path / "discreet.toml"


def people(found):
    person = found.cell("customer")
    rows = found.run(f"SELECT DISTINCT {person} AS who FROM {found.relation}").to_pydict()["who"]
    return sorted(who for who in rows if who is not None)


def test_the_command_opens_the_table_with_its_path(shop):
    with open_source("items", config=shop) as found:
        assert found.columns == ("order_no", "price", "customer")
        assert found.hidden == {"customer": "the person column"}
        assert found.rows() == 8  # the items of orders 5 and 6 are nobody's, and rows all the same
        assert people(found) == [7, 8]  # '7', '07' and ' 7' are one person


def test_the_curator_reads_the_same_rows(shop):
    with discreet.open(shop) as curator:
        found = declared_source(curator.engine, *curator.catalog.named("shop.items"))
        assert found.rows() == 8
        assert people(found) == [7, 8]
        copy = curator.anonymize("items", k=3, quasi=["price"])
        assert copy.table.num_rows == 8
        assert "customer" not in copy.table.column_names


def test_the_twin_without_the_path_is_caught(shop, monkeypatch):
    monkeypatch.setattr(source, "followed_paths", lambda *_: {})
    with (
        pytest.raises(CatalogError, match="has no column 'customer'"),
        open_source("items", config=shop),
    ):
        pytest.fail("opened without its people")
