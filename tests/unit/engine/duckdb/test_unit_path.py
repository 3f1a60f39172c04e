"""People reached over other tables: items of orders of customers."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.read.policy_file import loads
from discreet.core.path import PathStep, UnitPath, unit_path
from discreet.engine.duckdb import worker
from discreet.errors import CatalogError

TOML = """
[datasets.shop]
epsilon = 100
[datasets.shop.tables.customers]
source = "customers.csv"
unit = "customer"
max_rows = 1
[datasets.shop.tables.orders]
source = "orders.csv"
unit = "customer"
max_rows = 50
[datasets.shop.tables.orders.columns]
year = { type = "integer", lower = 2020, upper = 2029 }
[datasets.shop.tables.items]
source = "items.csv"
unit = "order_no -> orders.number -> customer"
max_rows = {max_rows}
[datasets.shop.tables.items.columns]
price = { type = "integer", lower = 0, upper = 10 }
[datasets.shop.tables.returns]
source = "returns.csv"
unit = "item -> items_of.id -> order_no -> orders.number -> customer"
max_rows = 50
[datasets.shop.tables.items_of]
source = "items.csv"
unit = "order_no -> orders.number -> customer"
max_rows = 50
"""


def shop(folder, max_rows=50):
    """Order 3 is nobody's, 4 is claimed by two customers, 5 is listed twice for one."""
    (folder / "customers.csv").write_text("customer\na\nb\n")
    (folder / "orders.csv").write_text(
        "number,customer,year\n1,a,2024\n2,b,2024\n3,,2024\n4,a,2024\n4,b,2024\n5,a,2024\n5,a,2024\n"
    )
    items = "".join(f"{i},{order},{i % 11}\n" for i, order in enumerate([1] * 40 + [2, 3, 4, 5, 9]))
    (folder / "items.csv").write_text(f"id,order_no,price\n{items}")
    (folder / "returns.csv").write_text("item,n\n0,1\n40,1\n41,1\n")
    text = TOML.replace("{max_rows}", str(max_rows))
    (folder / "discreet.toml").write_text(text)
    return folder / "discreet.toml"


def near(answer, value):
    return abs(answer.rows[0][0] - value) <= 6 * answer.error95[0][0]


def test_rows_belong_to_everybody_whom_they_reach(tmp_path):
    with discreet.open(shop(tmp_path)) as curator:
        counted = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=50)
        assert near(counted, 40 + 1 + 2 + 1)  # order 3 and 9 are nobody's, 4 is two people's
        joined = "SELECT COUNT(*) AS n FROM returns"
        assert near(curator.query(joined, epsilon=20), 2)


def test_rows_of_a_person_are_bounded_over_the_path(tmp_path):
    with discreet.open(shop(tmp_path, max_rows=2)) as curator:
        counted = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=50)
        assert near(counted, 2 + 2)


def test_a_change_of_the_tables_between_is_a_new_version(tmp_path):
    with discreet.open(shop(tmp_path)) as curator:
        first = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)
        with (tmp_path / "orders.csv").open("a") as file:
            file.write("9,b,2024\n")
        again = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)
        assert first.provenance.snapshot != again.provenance.snapshot
        assert not again.free


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("order_no -> orders", "is no path"),
        ("order_no -> nowhere.number -> customer", "no other private table"),
        ("order_no -> items.id -> customer", "no other private table"),
        ("order_no -> orders.number -> year", "must end at the unit of table 'orders'"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(tmp_path, path, sentence):
    text = TOML.replace("{max_rows}", "5").replace("order_no -> orders.number -> customer", path, 1)
    with pytest.raises(CatalogError, match=sentence):
        loads(text, base=tmp_path)


def test_a_path_is_read_step_by_step():
    found = unit_path("item -> items.id -> order_no -> orders.number -> customer")
    steps = (PathStep("item", "items", "id"), PathStep("order_no", "orders", "number"))
    assert found == UnitPath(steps, "customer")


def joined(connection, select):
    rows = connection.execute(f"SELECT order_no, price, customer FROM ({select})").fetchall()
    return sorted(row for row in rows if row[2] is not None)


def test_the_rows_of_one_person_depend_on_nobody_else(tmp_path):
    dice = random.Random(3)
    spec = {
        "base": {"parquet": [str(tmp_path / "items.parquet")]},
        "steps": [
            {
                "column": "order_no",
                "key": "number",
                "place": {"parquet": [str(tmp_path / "orders.parquet")]},
            }
        ],
        "unit": "customer",
    }
    select = worker._rows({"join": spec})
    # The twin drops what two people claim: then removing one of them changes the other.
    twin = select.replace("SELECT DISTINCT", "SELECT * FROM (SELECT DISTINCT", 1).replace(
        ") AS p ON", ") QUALIFY COUNT(*) OVER (PARTITION BY key) = 1) AS p ON", 1
    )
    changed = {"ours": 0, "twin": 0}
    connection = duckdb.connect(config={"threads": "1"})
    for _ in range(60):
        orders = [(dice.randrange(4), dice.choice("abc")) for _ in range(5)]
        items = [(dice.randrange(4), dice.randrange(9)) for _ in range(6)]
        gone = dice.choice("abc")
        for name, text in (("ours", select), ("twin", twin)):
            seen = []
            for kept in (orders, [order for order in orders if order[1] != gone]):
                keys = {"number": [o[0] for o in kept], "customer": [o[1] for o in kept]}
                kinds = pa.schema([("number", pa.int64()), ("customer", pa.string())])
                pq.write_table(pa.table(keys, schema=kinds), tmp_path / "orders.parquet")
                rows = {"order_no": [i[0] for i in items], "price": [i[1] for i in items]}
                pq.write_table(pa.table(rows), tmp_path / "items.parquet")
                seen.append([row for row in joined(connection, text) if row[2] != gone])
            changed[name] += seen[0] != seen[1]
    assert changed["ours"] == 0
    assert changed["twin"] > 0


def test_a_column_of_that_name_needs_no_path(tmp_path):
    config = shop(tmp_path)
    (tmp_path / "items.csv").write_text("id,order_no,price,Customer\n1,1,1,a\n")
    with pytest.raises(CatalogError, match="needs no path"), discreet.open(config) as curator:
        curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)
