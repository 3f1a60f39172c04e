"""Two linked tables: children a parent has, three-way distance across the link, keys that join.

python -m benchmarks.synth_linked [--people N] [--epsilon E] [--seeds S]

Customers with three columns, orders with four that depend on them; at most eight orders of a customer
count. Distances are total variation over codes of at most 16 bins; `single` is the joined table as one
table of as many rows, every row another person, copied by `auto` at the same price.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet

MOST = 8
TOML = """
[datasets.shop]
epsilon = 1000
delta = 1e-6
[datasets.shop.tables.customers]
source = "customers.parquet"
unit = "customer"
max_rows = 1
[datasets.shop.tables.customers.columns]
customer = { type = "identifier" }
age = { type = "integer", lower = 18, upper = 90 }
sex = { type = "category", values = ["F", "M"] }
region = { type = "category", values = ["r0", "r1", "r2", "r3", "r4", "r5"] }
[datasets.shop.tables.orders]
source = "orders.parquet"
unit = "customer"
max_rows = 8
[datasets.shop.tables.orders.columns]
order = { type = "identifier" }
customer = { type = "identifier" }
kind = { type = "category", values = ["k0", "k1", "k2", "k3", "k4"] }
price = { type = "integer", lower = 0, upper = 199 }
channel = { type = "category", values = ["web", "shop", "phone"] }
[datasets.flat]
epsilon = 1000
delta = 1e-6
[datasets.flat.tables.joined]
source = "joined.parquet"
unit = "row"
[datasets.flat.tables.joined.columns]
age = { type = "integer", lower = 18, upper = 90 }
sex = { type = "category", values = ["F", "M"] }
region = { type = "category", values = ["r0", "r1", "r2", "r3", "r4", "r5"] }
kind = { type = "category", values = ["k0", "k1", "k2", "k3", "k4"] }
price = { type = "integer", lower = 0, upper = 199 }
channel = { type = "category", values = ["web", "shop", "phone"] }
"""
ABOVE, BELOW = ("age", "sex", "region"), ("kind", "price", "channel")


def write(folder: Path, people: int) -> None:
    """Write both tables, their join, and their declarations."""
    rng = np.random.default_rng(1)
    age = np.clip(rng.normal(45, 15, people), 18, 90).astype(int)
    sex, region = rng.integers(0, 2, people), rng.integers(0, 6, people)
    many = np.minimum(rng.poisson(0.8 + 1.5 * (age > 50) + 0.5 * sex), MOST)
    customers = pa.table(
        {
            "customer": np.arange(people),
            "age": age,
            "sex": [("F", "M")[i] for i in sex],
            "region": [f"r{i}" for i in region],
        }
    )
    who = np.repeat(np.arange(people), many)
    kind = np.where(
        rng.random(len(who)) < 0.6, (region + sex)[who] % 5, rng.integers(0, 5, len(who))
    )
    price = np.exp(rng.normal(2 + 0.02 * age[who] + 0.3 * kind, 0.6)).clip(0, 199).astype(int)
    channel = (rng.random(len(who)) * 3 * (age[who] / 91)).astype(int)
    orders = pa.table(
        {
            "order": np.arange(len(who)),
            "customer": who,
            "kind": [f"k{i}" for i in kind],
            "price": price,
            "channel": [("web", "shop", "phone")[i] for i in channel],
        }
    )
    pq.write_table(customers, folder / "customers.parquet")
    pq.write_table(orders, folder / "orders.parquet")
    pq.write_table(joined(customers, orders), folder / "joined.parquet")
    (folder / "discreet.toml").write_text(TOML, encoding="utf-8")


def joined(customers: pa.Table, orders: pa.Table) -> pa.Table:
    """Return each order beside its customer."""
    found = orders.join(customers, "customer", join_type="inner")
    return found.select([*ABOVE, *BELOW])


def codes(table: pa.Table, real: pa.Table) -> np.ndarray:
    """Return every column as at most 16 codes, by the real one's values."""
    found = []
    for name in table.column_names:
        values, known = (np.array(each.column(name).to_pylist()) for each in (table, real))
        if known.dtype.kind in "if":
            edges = np.unique(np.quantile(known, np.linspace(0, 1, 17)[1:-1]))
            found.append(np.searchsorted(edges, values, side="right"))
        else:
            found.append(np.searchsorted(np.unique(known), values))
    return np.stack(found, axis=1)


def distance(real: np.ndarray, made: np.ndarray) -> float:
    """Return the mean distance over triples that have columns of both tables."""
    width = len(ABOVE)
    sizes = real.max(axis=0) + 1
    found = []
    for triple in itertools.combinations(range(real.shape[1]), 3):
        if triple[0] >= width or triple[-1] < width:
            continue
        shape = [int(sizes[c]) for c in triple]
        shares = [
            np.bincount(
                np.ravel_multi_index([each[:, c].clip(0, sizes[c] - 1) for c in triple], shape),
                minlength=int(np.prod(shape)),
            )
            / len(each)
            for each in (real, made)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def children(customers: pa.Table, orders: pa.Table) -> np.ndarray:
    """Return the share of customers with 0, 1, ... orders."""
    _, many = np.unique(np.array(orders.column("customer")), return_counts=True)
    found = np.bincount(np.minimum(many, MOST), minlength=MOST + 1)
    found[0] = customers.num_rows - len(many)
    return found / customers.num_rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, options.people)
        real = {
            name: pq.read_table(folder / f"{name}.parquet")
            for name in ("customers", "orders", "joined")
        }
        print(f"{options.people:,} people, {real['orders'].num_rows:,} orders")
        with discreet.open(folder) as curator:
            for _ in range(options.seeds):
                one(curator, real, options.epsilon)


def one(curator: discreet.Curator, real: dict[str, pa.Table], epsilon: str) -> None:
    """Print the figures of one pair of copies."""
    made = curator.synthesize_linked("shop", epsilon=epsilon).tables
    flat = curator.synthesize("flat.joined", epsilon=epsilon).table
    keys = set(made["orders"].column("customer").to_pylist())
    joins = keys <= set(made["customers"].column("customer").to_pylist())
    apart = np.abs(
        children(real["customers"], real["orders"]) - children(made["customers"], made["orders"])
    )
    exact = codes(real["joined"], real["joined"])
    across = distance(exact, codes(joined(made["customers"], made["orders"]), real["joined"]))
    single = distance(exact, codes(flat.select([*ABOVE, *BELOW]), real["joined"]))
    print(
        f"epsilon {epsilon}: children {apart.sum() / 2:.4f}, across the link {across:.4f}, "
        f"single {single:.4f} (ratio {across / single:.2f}), keys join: {joins}",
        flush=True,
    )


if __name__ == "__main__":
    main()
