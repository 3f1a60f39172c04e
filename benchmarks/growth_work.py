"""What each growth curve does: how a point is prepared, and what of it is measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Steps(Protocol):
    """Measures named steps."""

    def __call__(self, name: str) -> AbstractContextManager[None]: ...

    def fact(self, name: str, value: float) -> None: ...


@dataclass(frozen=True)
class Curve:
    """One curve: what grows, its sizes, and the work."""

    grows: str
    about: str
    sizes: tuple[int, ...]
    prepare: Callable[[int, Path], None]
    measure: Callable[[int, Path, Steps], None]


def _decades(first: int, last: int) -> tuple[int, ...]:
    return tuple(10**k for k in range(first, last + 1))


# --- rows, persons, groups: the bench table --------------------------------------------------

COUNT = "SELECT place, COUNT(*) AS n FROM t GROUP BY place"
MEAN = "SELECT place, SUM(income) AS total, AVG(income) AS mean FROM t GROUP BY place"


def _table(rows: int, persons: int, folder: Path, groups: int = 50) -> None:
    from discreet.lab.town import bench_table

    bench_table(rows, persons, folder / "t.parquet", groups=groups)


def _ask(folder: Path, unit: str, steps: Steps, *, engine: str = "duckdb:") -> None:
    """Ask the same two questions twice: cold with everything that is done once, then warm."""
    from benchmarks.curator import curator_of

    source = folder / "t.parquet"
    steps.fact("source_bytes", source.stat().st_size)
    with curator_of(folder / "asked", source, unit, engine=engine) as curator:
        with steps("first question, with the snapshot"):
            curator.query(COUNT, epsilon=1, fresh=True)
        with steps("count by 50 groups"):
            curator.query(COUNT, epsilon=1, fresh=True)
        with steps("sum and mean by 50 groups"):
            curator.query(MEAN, epsilon=1, fresh=True)
        kept = (p for p in (folder / "asked" / ".discreet").rglob("*") if p.is_file())
        steps.fact("state_bytes", sum(path.stat().st_size for path in kept))


def _rows(_size: int, folder: Path, steps: Steps) -> None:
    _ask(folder, 'unit = "row"', steps)


def _persons(_size: int, folder: Path, steps: Steps) -> None:
    _ask(folder, 'unit = "person_id"\nmax_rows = 3', steps)


def _spark(_size: int, folder: Path, steps: Steps) -> None:
    _ask(folder, 'unit = "row"\nsnapshot = "copy"', steps, engine="spark://local[2]")


GROUPED = """
[datasets.bench]
epsilon = 100000
delta = 1e-6
seconds = 600
[datasets.bench.tables.t]
source = "t.parquet"
unit = "row"
[datasets.bench.tables.t.columns]
place = {{ type = "category", values_from = "places.csv" }}
age = {{ type = "integer", lower = 0, upper = 99 }}
income = {{ type = "integer", lower = 0, upper = 500000 }}
"""


def _prepare_groups(size: int, folder: Path) -> None:
    places = min(size, 10_000)
    _table(1_000_000, 1_000_000, folder, places)
    names = [f"place {i + 1:0{len(str(places))}d}" for i in range(places)]
    (folder / "places.csv").write_text("place\n" + "\n".join(names) + "\n", encoding="utf-8")
    (folder / "discreet.toml").write_text(GROUPED.format(), encoding="utf-8")


def _groups(size: int, folder: Path, steps: Steps) -> None:
    import discreet

    by = "place" if size <= 10_000 else "place, age"
    sql = f"SELECT {by}, COUNT(*) AS n, SUM(income) AS total FROM t GROUP BY {by}"
    if size > 10_000:  # a tenth of the ages for a tenth of the cells
        sql = sql.replace(" GROUP", f" WHERE age < {size // 10_000} GROUP")
    with discreet.open(folder / "discreet.toml") as curator:
        curator.query("SELECT COUNT(*) AS n FROM t", epsilon=1, fresh=True)
        with steps("count and sum of every group"):
            found = curator.query(sql, epsilon=1, fresh=True)
        steps.fact("rows", len(found.rows))


# --- columns: a synthetic copy ---------------------------------------------------------------


def _prepare_columns(size: int, folder: Path) -> None:
    from benchmarks.synth_scale import TOML, write_table

    write_table(folder / "t.parquet", 100_000, size, 20)
    line = '{ type = "integer", lower = 0, upper = 19 }'
    text = TOML.format(columns="\n".join(f"x{k} = {line}" for k in range(size)))
    (folder / "discreet.toml").write_text(text, encoding="utf-8")


def _columns(size: int, folder: Path, steps: Steps) -> None:
    import discreet

    with discreet.open(folder / "discreet.toml") as curator:
        with steps("first question, with the snapshot"):
            curator.query(f"SELECT AVG(x{size - 1}) AS m FROM t", epsilon="0.01", fresh=True)
        with steps("synthetic copy of 100,000 rows (tree)"):
            curator.synthesize("t", epsilon="0.9", method="tree", progress=lambda *_: None)


# --- the ledger ------------------------------------------------------------------------------


def _prepare_ledger(size: int, folder: Path) -> None:
    from benchmarks.ledger import filled

    filled(folder, size)


def _prepare_checkpoint(size: int, folder: Path) -> None:
    from benchmarks.ledger import POLICY, URL

    from discreet.privacy.ledger import Ledger

    _prepare_ledger(size, folder)
    Ledger.open(URL, POLICY, base=folder).close()  # reads all of it, and makes the checkpoint


def _ledger(_size: int, folder: Path, steps: Steps) -> None:
    import time

    from benchmarks.ledger import POLICY, URL, charge

    from discreet.privacy.ledger import Ledger

    with steps("opening"):
        ledger = Ledger.open(URL, POLICY, base=folder)
    new = f"{time.time_ns()}"  # an id that was used before would cost nothing
    charge(ledger, f"warm {new}", 0)
    with steps("twenty charges"):
        for turn in range(20):
            charge(ledger, f"next {new}", turn)
    ledger.close()
    steps.fact("ledger_bytes", (folder / "ledger.db").stat().st_size)
    steps.fact("checkpoint_bytes", sum(each.stat().st_size for each in folder.glob("*.head.*-*")))


# --- reports ---------------------------------------------------------------------------------


def _survey():
    from discreet.survey.plan import SurveyPlan
    from discreet.survey.specification import survey_of

    options = [str(code) for code in range(1000)]
    question = {"kind": "choice", "options": options, "mechanism": "projective"}
    stated = {"title": "Large", "epsilon": 2, "questions": {"street": question}}
    return SurveyPlan.of(survey_of(stated, name="large"))


def _prepare_reports(size: int, folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from discreet.survey.randomizers.bits import KeystreamRng

    part = min(size, 1_000_000)
    randomizer = _survey().choices[0].randomizer
    some = pa.table({"q0": randomizer.encode_many(np.arange(part) % 1000, KeystreamRng())})
    with pq.ParquetWriter(folder / "reports.parquet", some.schema) as writer:
        for _ in range(size // part):
            writer.write_table(some)


def _reports(size: int, folder: Path, steps: Steps) -> None:
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.connect import connect
    from discreet.survey.columns import ColumnReports

    plan = _survey()
    sources = {"reports": "reports.parquet"}
    engine = connect("duckdb:", sources, base=folder, limits=EngineLimits(seconds=600))
    try:
        with steps("counted and estimated"):
            (found,) = ColumnReports(engine, "reports", plan).tallies()
            plan.choices[0].randomizer.supporters(found.tally, range(1000))
    finally:
        engine.close()
    assert found.answers == size
    steps.fact("source_bytes", (folder / "reports.parquet").stat().st_size)


# --- areas -----------------------------------------------------------------------------------


def _prepare_areas(size: int, folder: Path) -> None:
    from benchmarks.publish import write_nation

    write_nation(folder, size, 1_000_000, 4)


def _areas(_size: int, folder: Path, steps: Steps) -> None:
    import discreet

    with discreet.open(folder / "discreet.toml") as curator, steps("whole signed release"):
        curator.publish(folder / "SPEC.toml", out=folder / "R.zip")
    steps.fact("package_bytes", (folder / "R.zip").stat().st_size)


CURVES = {
    "rows": Curve(
        "rows",
        "each row a person; DuckDB on one Parquet file",
        _decades(5, 9),
        lambda size, folder: _table(size, size, folder),
        _rows,
    ),
    "persons": Curve(
        "rows, three of each person",
        "at most 3 rows of a person count, bounded in the question",
        _decades(5, 8),
        lambda size, folder: _table(size, max(1, size // 3), folder),
        _persons,
    ),
    "spark": Curve(
        "rows",
        "the same question on Spark, one local process with two threads",
        _decades(5, 8),
        lambda size, folder: _table(size, size, folder),
        _spark,
    ),
    "groups": Curve(
        "groups", "10^6 rows, a count and a sum of each", _decades(1, 6), _prepare_groups, _groups
    ),
    "columns": Curve(
        "columns",
        "10^5 rows, 20 values a column",
        (5, 10, 20, 50, 100),
        _prepare_columns,
        _columns,
    ),
    "ledger": Curve(
        "entries of the ledger",
        "SQLite, the whole history",
        _decades(2, 6),
        _prepare_ledger,
        _ledger,
    ),
    "checkpoint": Curve(
        "entries before the checkpoint",
        "SQLite, opened again after the checkpoint was made",
        _decades(4, 6),
        _prepare_checkpoint,
        _ledger,
    ),
    "reports": Curve(
        "reports",
        "one answer among 1,000, two bytes each, Parquet counted by DuckDB",
        _decades(5, 9),
        _prepare_reports,
        _reports,
    ),
    "areas": Curve(
        "areas",
        "10^6 people, four levels, each by 2,016 cells, published and signed",
        (10, 30, 100, 300, 1000),
        _prepare_areas,
        _areas,
    ),
}
