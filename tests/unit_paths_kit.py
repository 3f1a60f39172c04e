"""A shop whose items name orders and whose orders name customers, and who bought what, by brute force."""

from __future__ import annotations

import random

import pyarrow as pa

from discreet.data.catalog.policy_file import loads
from discreet.privacy.kernel.sources import every_path
from engines import LIMITS, connect, rows

TOML = """
[engine]
url = "{url}"
[datasets.shop]
epsilon = 1000000
[datasets.shop.tables.orders]
source = "{orders}"
unit = "customer"
max_rows = 50
[datasets.shop.tables.orders.columns]
customer = {{ type = "{person}" }}
number = {{ type = "{key}" }}
[datasets.shop.tables.items]
source = "{items}"
unit = "order_no -> orders.number -> customer"
max_rows = {max_rows}
{copy}
[datasets.shop.tables.items.columns]
price = {{ type = "integer", lower = 0, upper = 10 }}
[datasets.shop.tables.returns]
source = "{returns}"
unit = "item -> items.id -> order_no -> orders.number -> customer"
max_rows = 50
[datasets.shop.tables.returns.columns]
n = {{ type = "integer", lower = 0, upper = 10 }}
"""


def shop(dice: random.Random, *, texts: bool) -> dict[str, pa.Table]:
    """Orders of nobody and of two people, listed twice, and items of orders that there are not."""
    kind = pa.string() if texts else pa.int64()

    def key(value: int | None):
        if value is None or not texts:
            return value
        return dice.choice([str(value), f"0{value}"])

    orders = [(dice.choice([*range(6), None]), dice.choice([*range(5), None])) for _ in range(12)]
    items = [(i, dice.choice([*range(8), None]), dice.randint(0, 10)) for i in range(25)]
    returns = [(dice.choice([*range(25), None]), dice.randint(0, 10)) for _ in range(15)]

    def column(found, place):
        return pa.array([key(row[place]) for row in found], kind)

    def plain(found, place):
        return pa.array([row[place] for row in found], pa.int64())

    return {
        "orders": pa.table({"number": column(orders, 0), "customer": column(orders, 1)}),
        "items": pa.table(
            {"id": plain(items, 0), "order_no": column(items, 1), "price": plain(items, 2)}
        ),
        "returns": pa.table({"item": plain(returns, 0), "n": plain(returns, 1)}),
    }


def toml(place, *, whole: bool, max_rows: int = 50, copy: bool = False) -> str:
    kind = "integer" if whole else "identifier"
    sources = {name.split(".")[-1]: source for name, source in place.sources.items()}
    text = TOML.format(
        url=place.url,
        person=kind,
        key=kind,
        max_rows=max_rows,
        copy='snapshot = "copy"' if copy else "",
        **sources,
    )
    bounds = 'type = "integer", lower = 0, upper = 99'
    return text.replace('type = "integer" }', bounds + " }")


def brute_force(tables, *, whole: bool) -> list[tuple]:
    """Return the pairs of price and person, worked out here and not by an engine."""

    def read(value):
        if value is None:
            return None
        return int(value) if whole else str(value)

    owners: dict[object, set] = {}
    for row in tables["orders"].to_pylist():
        if row["number"] is not None and row["customer"] is not None:
            owners.setdefault(read(row["number"]), set()).add(read(row["customer"]))
    found = []
    for row in tables["items"].to_pylist():
        people = owners.get(read(row["order_no"]), set())
        found += [(row["price"], person) for person in people or [None]]
    return sorted(found, key=repr)


def opened(place, text):
    catalog = loads(text, base=place.base)
    return connect(
        place.url,
        catalog.sources,
        base=place.base,
        limits=LIMITS,
        paths=every_path(catalog.datasets.values(), place.url),
    )


def reached(engine) -> list[tuple]:
    relation = engine.relation("shop.items")
    return rows(engine, f"SELECT t.price, t.customer FROM {relation} AS t")
