"""Packages at scale, marginals and running totals: rows a CPU second, and errors at equal privacy.

    python -m benchmarks.packages --areas 1000

A made-up fine table of AREAS x 2,016 cells and its sum over areas are written as a signed package,
then checked by the stand-alone verifier. CPU seconds, because the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.work.publish import verify
from discreet.work.publish.contents import (
    Agreement,
    Contents,
    MeasureColumn,
    Measurement,
    PriceEvent,
    PublishedKey,
    PublishedTable,
    Side,
    SumLink,
)
from discreet.work.publish.package import OwnerKey, write_package
from discreet.work.publish.totals import running_totals
from discreet.work.publish.workload import plan_marginals

SEXES, GROUPS = 2, 1008
SIGMA_SQUARED = Fraction(49, 4)


def made_up(areas: int) -> Contents:
    """Return a release of one fine table and its sum; nobody in it exists, and nothing was paid."""
    values = np.random.default_rng(0).poisson(1.0, (areas, SEXES, GROUPS))
    keys = (
        PublishedKey("area", "area", tuple(f"area {i:05d}" for i in range(areas))),
        PublishedKey("sex", "sex", ("F", "M")),
        PublishedKey("age_job", "age and job", tuple(f"group {i:04d}" for i in range(GROUPS))),
    )
    fine, nation = _table("fine", keys, values), _table("nation", keys[1:], values.sum(axis=0))
    common = (SumLink("sex", "sex"), SumLink("age_job", "age_job"))
    events = tuple(
        PriceEvent(name, "gaussian", SIGMA_SQUARED, Fraction(1), cells)
        for name, cells in (("nation", values[0].size), ("fine", values.size))
    )
    return Contents(
        name="made-up",
        dataset="made-up",
        unit="each row",
        neighbours="add-remove",
        epsilon=Fraction(2),
        delta=Fraction(1, 10**9),
        rho=1 / SIGMA_SQUARED,
        events=events,
        tables=(nation, fine),
        measurements=(_measured(nation), _measured(fine)),
        ledger={"charge": 0, "head": "", "links": []},
        created="2026-01-01",
        snapshot="made-up",
        spec="",
        agreements=(Agreement(Side("nation", "n", common), Side("fine", "n", common)),),
    )


def _table(name: str, keys: tuple[PublishedKey, ...], values: Any) -> PublishedTable:
    columns: dict[str, Any] = {}
    for axis, key in enumerate(keys):
        shape = [-1 if d == axis else 1 for d in range(len(keys))]
        codes = np.broadcast_to(
            np.arange(len(key.values), dtype=np.int32).reshape(shape), values.shape
        )
        columns[key.name] = pa.DictionaryArray.from_arrays(
            pa.array(codes.reshape(-1)), pa.array(key.values)
        )
    flat = values.reshape(-1)
    columns |= {"n": flat, "n_low": np.maximum(flat - 7, 0), "n_high": flat + 7}
    return PublishedTable(name, "", keys, (MeasureColumn("n", "COUNT(*)"),), pa.table(columns))


def _measured(table: PublishedTable) -> Measurement:
    rows: Any = table.rows
    found = rows.select([key.name for key in table.keys]).append_column("value", rows["n"])
    scale = math.sqrt(SIGMA_SQUARED)
    found = found.append_column("scale", pa.array(np.full(rows.num_rows, scale)))
    return Measurement(table.name, table.name, "n", found)


def _cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def package_rows(areas: int) -> dict[str, Any]:
    """Return CPU seconds of writing and of checking everything but the ledger, of which there is none."""
    contents = made_up(areas)
    cells = contents.tables[1].rows.num_rows
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "RELEASE.zip"
        _, writing = _cpu(lambda: write_package(contents, out, OwnerKey(bytes(32))))
        size = out.stat().st_size
        said, checking = _cpu(lambda: verify.verify(str(out)))
        whole, adding = _cpu(lambda: _sums(out))
    assert said["checks"] == ["signature", "members", "price"], said
    return {
        "cells": cells,
        "megabytes": round(size / 1e6, 1),
        "write_cpu_s": round(writing, 1),
        "verify_cpu_s": round(checking + adding, 1),
        "sums_hold": whole,
    }


def _sums(path: Path) -> bool:
    with path.open("rb") as file:
        package = verify.Package(file, verify.LAWS)
        verify.check_scales(package)
        verify.check_sums(package)
    return True


def marginals() -> dict[str, Any]:
    """Return how long all marginals of up to 3 of 100 ten-valued attributes take to plan."""
    sizes = {f"a{i}": 10 for i in range(100)}
    plan, seconds = _cpu(lambda: plan_marginals(sizes, up_to=3, epsilon=1, delta="1e-9"))
    return {"tables": plan.tables, "cpu_s": round(seconds, 2)}


def totals() -> dict[str, Any]:
    """Return the error on day 365 in units of one day's, and that of a binary tree."""
    ours = float(running_totals(365, rho=Fraction(1, 2)).errors()[-1])
    levels = 9  # of a tree over 365 days whose nodes hold 1 to 256 days
    return {
        "day_365": round(ours, 2),
        "binary_tree": round(math.sqrt(levels * (365).bit_count()), 2),
    }


def main() -> None:
    """Print one JSON line for each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--areas", type=int, default=100)
    areas = parser.parse_args().areas
    for name, found in (
        ("package", package_rows(areas)),
        ("marginals", marginals()),
        ("totals", totals()),
    ):
        print(json.dumps({name: found}))


if __name__ == "__main__":
    main()
