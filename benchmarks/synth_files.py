"""The files of the shared folder as examples: domains from their documentation or plain good sense."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.csv
from benchmarks.synth_data import GENERATED, SHARED, Example, category, integer, number


def adult() -> Example:
    """ADULT, discretised as in the papers."""
    sizes = json.loads((SHARED / "adult_discretized-domain.json").read_text(encoding="utf-8"))
    table = pa.csv.read_csv(SHARED / "adult_discretized.csv")
    names = {name: name.replace("-", "_") for name in sizes}
    return Example(
        table.rename_columns([names.get(n, n) for n in table.column_names]),
        {names[name]: integer(0, size - 1) for name, size in sizes.items()},
    )


def hmeq() -> Example:
    """Home equity loans: heavy tails and gaps."""
    table = pa.csv.read_csv(SHARED / "hmeq.csv", convert_options=_gaps())
    return Example(
        table,
        {
            "BAD": integer(0, 1),
            "LOAN": integer(0, 100_000, missing=True),
            "MORTDUE": number(0, 400_000, 1, missing=True),
            "VALUE": number(0, 900_000, 1, missing=True),
            "REASON": category(["DebtCon", "HomeImp"], missing=True),
            "JOB": category(["Mgr", "Office", "Other", "ProfExe", "Sales", "Self"], missing=True),
            "YOJ": number(0, 50, 0.1, missing=True),
            "DEROG": integer(0, 10, missing=True),
            "DELINQ": integer(0, 15, missing=True),
            "CLAGE": number(0, 1200, 0.1, missing=True),
            "NINQ": integer(0, 20, missing=True),
            "CLNO": integer(0, 80, missing=True),
            "DEBTINC": number(0, 250, 0.1, missing=True),
        },
    )


def _gaps() -> pa.csv.ConvertOptions:
    return pa.csv.ConvertOptions(null_values=[""], strings_can_be_null=True)


def pums() -> Example:
    """A small census file of PUMS."""
    return Example(
        pa.csv.read_csv(SHARED / "pums.csv"),
        {
            "age": integer(18, 100),
            "sex": integer(0, 1),
            "educ": integer(1, 16),
            "race": integer(1, 6),
            "income": integer(0, 500_000),
            "married": integer(0, 1),
        },
    )


def acs() -> Example:
    """The census excerpt of one state, every column as its code book lists it."""
    table = pa.csv.read_csv(
        SHARED / "acs" / "ma2019.csv",
        convert_options=pa.csv.ConvertOptions(null_values=["N"], strings_can_be_null=True),
    )
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        gaps = column.null_count > 0
        if pa.types.is_string(column.type):
            columns[name] = category(sorted(set(column.drop_null().to_pylist())), missing=gaps)
        elif pa.types.is_integer(column.type):
            values = np.array(column.drop_null().to_pylist())
            columns[name] = integer(int(values.min()), int(values.max()), missing=gaps)
        else:
            values = np.array(column.drop_null().to_pylist())
            columns[name] = number(float(values.min()), float(values.max()), 0.001, missing=gaps)
    return Example(table, columns)


FILES: dict[str, Callable[[], Example]] = {each.__name__: each for each in (adult, hmeq, pums, acs)}


def example(name: str, seed: int = 1) -> Example | None:
    """Return an example by name; None where its file is not on this machine."""
    if name in GENERATED:
        return GENERATED[name](np.random.default_rng(seed))
    return FILES[name]() if SHARED.is_dir() else None


def here(names: tuple[str, ...]) -> list[str]:
    """Return those of some names whose data this machine has."""
    return [name for name in names if name in GENERATED or SHARED.is_dir()]
