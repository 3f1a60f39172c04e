"""TPC-H for a curator: the generator's tables, three prepared columns, and a discreet.toml.

Customers are the people. A row of lineitem does not say whose it is, so a copy gets `l_custkey` from
its order. Conditions on free text become columns that the owner prepares: `o_special` (the comment
mentions special requests) and, in the public table of parts, `p_green`. Every domain below stands in
the TPC-H specification, which is public.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import duckdb

PRIVATE = ("customer", "orders", "lineitem")
PUBLIC = ("part", "supplier", "partsupp", "nation", "region")

PREPARED = {
    "lineitem": (
        "SELECT l.*, o_custkey AS l_custkey FROM '{raw}/lineitem.parquet' AS l "
        "JOIN '{raw}/orders.parquet' ON l_orderkey = o_orderkey"
    ),
    "orders": (
        "SELECT *, o_comment LIKE '%special%requests%' AS o_special FROM '{raw}/orders.parquet'"
    ),
    "part": "SELECT *, p_name LIKE '%green%' AS p_green FROM '{raw}/part.parquet'",
}

NATIONS = [
    "ALGERIA",
    "ARGENTINA",
    "BRAZIL",
    "CANADA",
    "EGYPT",
    "ETHIOPIA",
    "FRANCE",
    "GERMANY",
    "INDIA",
    "INDONESIA",
    "IRAN",
    "IRAQ",
    "JAPAN",
    "JORDAN",
    "KENYA",
    "MOROCCO",
    "MOZAMBIQUE",
    "PERU",
    "CHINA",
    "ROMANIA",
    "SAUDI ARABIA",
    "VIETNAM",
    "RUSSIA",
    "UNITED KINGDOM",
    "UNITED STATES",
]
TYPES = (
    "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO",
    "ANODIZED BURNISHED PLATED POLISHED BRUSHED",
    "TIN NICKEL BRASS STEEL COPPER",
)
CONTAINERS = ("SM LG MED JUMBO WRAP", "CASE BOX BAG JAR PKG PACK CAN DRUM")


def _words(parts: tuple[str, ...]) -> list[str]:
    return [" ".join(chosen) for chosen in product(*(part.split() for part in parts))]


def _category(values: list[str]) -> str:
    listed = ", ".join(f'"{value}"' for value in values)
    return f'{{ type = "category", values = [{listed}] }}'


def _integer(lower: int, upper: int) -> str:
    return f'{{ type = "integer", lower = {lower}, upper = {upper} }}'


def _cents(lower: str, upper: str) -> str:
    return f'{{ type = "number", lower = {lower}, upper = {upper}, step = 0.01 }}'


def _date(lower: str, upper: str) -> str:
    return f'{{ type = "date", lower = {lower}, upper = {upper} }}'


IDENTIFIER = '{ type = "identifier" }'
BOOLEAN = '{ type = "boolean" }'


def columns(suppliers: int) -> dict[str, dict[str, str]]:
    """Return the declared columns of each table."""
    return {
        "customer": {
            "c_custkey": IDENTIFIER,
            "c_nationkey": _integer(0, 24),
            "c_acctbal": _cents("-999.99", "9999.99"),
            "c_mktsegment": _category(
                ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"]
            ),
        },
        "orders": {
            "o_orderkey": IDENTIFIER,
            "o_custkey": IDENTIFIER,
            "o_orderstatus": _category(["F", "O", "P"]),
            "o_orderdate": _date("1992-01-01", "1998-08-02"),
            "o_orderpriority": _category(
                ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
            ),
            "o_special": BOOLEAN,
        },
        "lineitem": {
            "l_custkey": IDENTIFIER,
            "l_orderkey": IDENTIFIER,
            "l_partkey": IDENTIFIER,
            "l_suppkey": _integer(1, suppliers),
            "l_quantity": _integer(1, 50),
            "l_extendedprice": _cents("0", "104950"),
            "l_discount": _cents("0", "0.10"),
            "l_tax": _cents("0", "0.08"),
            "l_returnflag": _category(["A", "N", "R"]),
            "l_linestatus": _category(["F", "O"]),
            "l_shipdate": _date("1992-01-02", "1998-12-01"),
            "l_commitdate": _date("1992-01-31", "1998-10-31"),
            "l_receiptdate": _date("1992-01-03", "1998-12-31"),
            "l_shipinstruct": _category(
                ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
            ),
            "l_shipmode": _category(["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]),
        },
        "part": {
            "p_partkey": IDENTIFIER,
            "p_green": BOOLEAN,
            "p_brand": _category([f"Brand#{m}{n}" for m in range(1, 6) for n in range(1, 6)]),
            "p_type": _category(_words(TYPES)),
            "p_size": _integer(1, 50),
            "p_container": _category(_words(CONTAINERS)),
            "p_mfgr": _category([f"Manufacturer#{n}" for n in range(1, 6)]),
        },
        "supplier": {
            "s_suppkey": _integer(1, suppliers),
            "s_name": '{ type = "text" }',
            "s_acctbal": _cents("-999.99", "9999.99"),
            "s_comment": '{ type = "text" }',
            "s_nationkey": _integer(0, 24),
        },
        "partsupp": {
            "ps_partkey": IDENTIFIER,
            "ps_suppkey": _integer(1, suppliers),
            "ps_availqty": _integer(1, 9999),
            "ps_supplycost": _cents("1", "1000"),
        },
        "nation": {
            "n_nationkey": _integer(0, 24),
            "n_name": _category(NATIONS),
            "n_regionkey": _integer(0, 4),
        },
        "region": {
            "r_regionkey": _integer(0, 4),
            "r_name": _category(["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]),
        },
    }


# 40 and 155 were read off the generated data, which is made up: an owner must not do that.
UNITS = {"customer": ("c_custkey", 1), "orders": ("o_custkey", 40), "lineitem": ("l_custkey", 155)}


def toml(folder: Path, *, scale: float, epsilon: str) -> Path:
    """Return the discreet.toml written beside the prepared tables."""
    lines = ["[datasets.tpch]", f"epsilon = {epsilon}", "delta = 1e-9", "seconds = 300"]
    for table, declared in columns(max(1, round(10_000 * scale))).items():
        lines += [f"[datasets.tpch.tables.{table}]", f'source = "{table}.parquet"']
        if table in UNITS:
            unit, max_rows = UNITS[table]
            lines += [f'unit = "{unit}"', f"max_rows = {max_rows}"]
        else:
            lines += ["public = true", f"key_copies = {4 if table == 'partsupp' else 1}"]
        lines.append(f"[datasets.tpch.tables.{table}.columns]")
        lines += [f"{name} = {domain}" for name, domain in declared.items()]
    path = folder / "discreet.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def prepare(folder: Path, scale: float) -> None:
    """Generate the tables at `scale` into `folder` and add the prepared columns."""
    raw = folder / "raw"
    generator = shutil.which("tpchgen-cli") or Path(sys.executable).with_name("tpchgen-cli")
    order = [str(generator), "parquet", "-s", str(scale), f"--output-dir={raw}"]
    subprocess.run(order, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with duckdb.connect() as database:
        for table in (*PRIVATE, *PUBLIC):
            plain = f"SELECT * FROM '{raw}/{table}.parquet'"
            sql = PREPARED.get(table, plain).format(raw=raw)
            database.execute(f"COPY ({sql}) TO '{folder}/{table}.parquet' (FORMAT parquet)")
    shutil.rmtree(raw)


def truth(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a plain DuckDB over the same files, which answers exactly."""
    database = duckdb.connect()
    for table in (*PRIVATE, *PUBLIC):
        database.execute(f"CREATE VIEW {table} AS SELECT * FROM '{folder}/{table}.parquet'")
    return database
