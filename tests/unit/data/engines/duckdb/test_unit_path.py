"""People reached over other tables: items of orders of customers."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.base.unit import PathStep, UnitPath, unit_path
from discreet.data.catalog.policy_file import loads
from discreet.data.engines.column_types import Storage, storage
from discreet.data.engines.duckdb import worker
from discreet.data.engines.duckdb.canonical import SourceOrigin, joined_place
from discreet.errors import CatalogError
from discreet.privacy.kernel import sources
from discreet.privacy.kernel.sources import every_path

TOML = """
[datasets.shop]
epsilon = 100000
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


def counted(curator, table):
    """Return a count at so large a price that it is off once in e^400 times, for 50 rows a person."""
    ((found,),) = curator.query(f"SELECT COUNT(*) AS n FROM {table}", epsilon=20000).rows
    return found


def test_rows_belong_to_everybody_whom_they_reach(tmp_path):
    with discreet.open(shop(tmp_path)) as curator:
        # Order 3 and 9 are nobody's, 4 is two people's.
        assert counted(curator, "items") == 40 + 1 + 2 + 1
        assert counted(curator, "returns") == 2


def test_rows_of_a_person_are_bounded_over_the_path(tmp_path):
    with discreet.open(shop(tmp_path, max_rows=2)) as curator:
        assert counted(curator, "items") == 2 + 2


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
    catalog = loads(TOML.replace("{max_rows}", "50"), base=tmp_path)
    path = every_path(catalog.datasets.values(), "duckdb:")["shop.items"]
    files = [{"parquet": [str(tmp_path / f"{name}.parquet")]} for name in ("items", "orders")]
    origin = SourceOrigin("items", None, joined=((path.steps[0], None),), unit=path.unit)
    connection = duckdb.connect(config={"threads": "1"})
    kinds = pa.schema([("number", pa.int64()), ("customer", pa.string())])
    pq.write_table(kinds.empty_table(), tmp_path / "orders.parquet")
    pq.write_table(pa.table({"order_no": [1], "price": [1]}), tmp_path / "items.parquet")
    select = worker._rows(connection, joined_place(origin, files))
    # The twin drops what two people claim: then removing one of them changes the other.
    twin = select.replace("SELECT DISTINCT", "SELECT * FROM (SELECT DISTINCT", 1).replace(
        ") AS p ON", ") QUALIFY COUNT(*) OVER (PARTITION BY key) = 1) AS p ON", 1
    )
    changed = {"ours": 0, "twin": 0}
    for _ in range(25):
        orders = [(dice.randrange(4), dice.choice("abc")) for _ in range(5)]
        items = [(dice.randrange(4), dice.randrange(9)) for _ in range(6)]
        gone = dice.choice("abc")
        for name, text in (("ours", select), ("twin", twin)):
            seen = []
            for kept in (orders, [order for order in orders if order[1] != gone]):
                keys = {"number": [o[0] for o in kept], "customer": [o[1] for o in kept]}
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


SPELLED = """
[datasets.shop]
epsilon = 1000000
[datasets.shop.tables.orders]
source = "orders.csv"
unit = "customer"
max_rows = 1
[datasets.shop.tables.orders.columns]
customer = { %s }
number = { %s }
[datasets.shop.tables.items]
source = "items.csv"
unit = "order_no -> orders.number -> customer"
max_rows = 1
[datasets.shop.tables.items.columns]
price = { type = "integer", lower = 0, upper = 1000 }
[datasets.shop.tables.returns]
source = "returns.csv"
unit = "item -> items.id -> order_no -> orders.number -> customer"
max_rows = 1
"""
WHOLE = 'type = "integer", lower = 0, upper = 1000000'
TRIMMED = 'type = "identifier", trim = true'


def spelled_shop(folder, person, key, names):
    """One order and one item for each spelling of a person, and one return of each item."""
    orders = "".join(f'{i},"{name}"\n' for i, name in enumerate(names))
    (folder / "orders.csv").write_text("number,customer\n" + orders)
    # Odd numbers of orders are written in another way by who wrote the items.
    items = [
        f'{i},"{"0" * (i % 2) if "integer" in key else " " * (i % 2)}{i}",1000\n' for i in range(9)
    ]
    (folder / "items.csv").write_text("id,order_no,price\n" + "".join(items))
    (folder / "returns.csv").write_text("item\n" + "".join(f"{i}\n" for i in range(9)))
    (folder / "discreet.toml").write_text(SPELLED % (person, key))
    return folder / "discreet.toml"


@pytest.mark.parametrize(
    ("person", "names"),
    [(WHOLE, ["7", "07", "007", "+7", "7.0"]), (TRIMMED, ["bob", " bob", "bob ", "\tbob"])],
)
@pytest.mark.parametrize("key", [WHOLE, TRIMMED])
def test_a_person_of_many_spellings_is_one_at_every_end_of_a_path(tmp_path, person, names, key):
    config = spelled_shop(tmp_path, person, key, [*names, "1", "2"])
    with discreet.open(config) as curator:
        for table in ("orders", "items", "returns"):
            asked = f"SELECT COUNT(DISTINCT customer) AS p, COUNT(*) AS n FROM {table}"
            ((people, rows),) = curator.query(asked, epsilon=10000).rows
            assert (people, rows) == (3, 3), table
        ((moved,),) = curator.query("SELECT SUM(price) AS s FROM items", epsilon=100000).rows
        assert moved == 3 * 1000


def test_without_its_reading_a_person_would_be_many(tmp_path, monkeypatch):
    """The twin of the test above: a path that compares texts as they stand."""
    bare = lambda column, cell, kind, _dialect: (f"CAST({cell} AS VARCHAR)", "VARCHAR")  # noqa: E731
    monkeypatch.setattr(sources, "plain_cell", bare)
    monkeypatch.setattr(sources, "unit_cell", lambda _c, plain, *_, **__: plain)
    config = spelled_shop(tmp_path, TRIMMED, TRIMMED, ["bob", " bob", "bob ", "\tbob", "1"])
    with discreet.open(config) as curator:
        ((people,),) = curator.query(
            "SELECT COUNT(DISTINCT customer) AS p FROM items", epsilon=10000
        ).rows
    assert people == 3  # bob, bob with a space behind him, and 1; read rightly they are two


def test_another_reading_of_the_parent_is_another_path(tmp_path):
    found = []
    for person in (WHOLE, TRIMMED, 'type = "identifier"'):
        catalog = loads(SPELLED % (person, WHOLE), base=tmp_path)
        found.append(
            (catalog.table("items").path, every_path(catalog.datasets.values(), "duckdb:"))
        )
    assert len({path for path, _ in found}) == 3
    assert len({repr(every) for _, every in found}) == 3


def test_every_storage_has_its_text():
    assert set(sources.STORED) == set(Storage)
    assert all(storage(kind) is stored for stored, kind in sources.STORED.items())
