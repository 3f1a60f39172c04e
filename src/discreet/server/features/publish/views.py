"""What the Publish pages show: a release's way, and a released package's tables as grids and bars."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.base.numbers import plain
from discreet.server.shelf import MEDIA_TYPES
from discreet.server.views import amount, minute_of
from discreet.work.publish.specification import Spec, TableSpec

STATES = ("draft", "rehearsed", "approved", "released")
MOST_BARS = 60
MOST_GRID_ROWS = 200
MOST_GRID_COLUMNS = 24
WIDTH = 100.0


def way(state: str | None) -> list[dict[str, Any]]:
    """Return the four steps of a release, and which of them are behind it."""
    ended = state in ("superseded", "withdrawn")
    reached = len(STATES) if ended else STATES.index(state) + 1 if state in STATES else 0
    return [
        {"name": name, "done": place < reached, "here": place == reached - 1 and not ended}
        for place, name in enumerate(STATES)
    ]


def standing_view(standing: Mapping[str, Any]) -> dict[str, Any]:
    """Return one release of the list."""
    return {
        "name": standing["release"],
        "state": standing["state"],
        "path": f"/publish/{standing['release']}",
        "public": f"/releases/{standing['release']}",
        "is_public": standing["state"] in ("released", "superseded", "withdrawn"),
        "drafted_by": standing["drafted_by"],
        "approved_by": standing["approved_by"],
        "when": minute_of(standing["time"]),
        "note": standing["note"] if standing["state"] in ("superseded", "withdrawn") else "",
    }


def starter(datasets: Sequence[Mapping[str, Any]]) -> str:
    """Return a spec to begin with, for the first table that has two short lists of groups."""
    for dataset in datasets:
        for table in dataset["tables"]:
            lists = [c["name"] for c in table["columns"] if 1 < len(c["values"]) <= 60]
            if not table["public"] and lists:
                return _spec(dataset, table["name"], lists[:2])
    return ""


def _spec(dataset: Mapping[str, Any], table: str, keys: Sequence[str]) -> str:
    left = max(0.0, float(dataset["limit"]) - float(dataset["spent"]))
    lines = [
        "[release]",
        f'name = "{dataset["name"]}-2026"',
        f'dataset = "{dataset["name"]}"',
        f"epsilon = {_quarter(left)}   # a quarter of what is left",
    ]
    for place in range(len(keys)):
        named = ", ".join(keys[: place + 1])
        sql = f"SELECT {named}, COUNT(*) AS people FROM {table} GROUP BY {named}"
        lines += ["", f"[tables.by_{keys[place]}]", f'sql = "{sql}"']
    return "\n".join(lines) + "\n"


def _quarter(left: float) -> str:
    return f"{float(format(left / 4, '.2g')):g}" if left > 0 else "0.1"


def spec_view(spec: Spec) -> dict[str, Any]:
    """Return what a draft holds, in the words of the page."""
    from_data = [fact for fact in spec.facts if fact.file is None]
    files = sorted({fact.file for fact in spec.facts if fact.file is not None})
    return {
        "tables": [{"name": t.name, "sql": t.sql, "weight": _weight(t)} for t in spec.tables],
        "files": files,
        "from_data": len(from_data),
        "rules": list(spec.rules),
    }


def _weight(table: TableSpec) -> str:
    if table.share is not None:
        return f"{float(table.share):.0%} of the budget"
    if table.accuracy is not None:
        target = table.accuracy
        return (
            f"{float(target.confidence):.0%} of cells over {target.size:,} within "
            f"{float(target.within):.0%}"
        )
    return "its best share"


def package_view(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the promise and the downloads of a released package."""
    privacy = manifest["privacy"]
    exact = [fact for fact in manifest["facts"] if fact["source"] == "data"]
    return {
        "name": name,
        "dataset": manifest["dataset"],
        "created": minute_of(manifest["created"]),
        "unit": privacy["unit"],
        "neighbours": privacy["neighbours"],
        "epsilon": plain(Fraction(privacy["epsilon"])),
        "delta": plain(Fraction(privacy["delta"])),
        "key": manifest["key"],
        "private": manifest["private"],
        "facts": [{"name": fact["name"], "reason": fact["reason"]} for fact in manifest["facts"]],
        "without_guarantee": len(exact),
        "rules": sorted({rule["text"] for rule in manifest["rules"]}),
        "tables": [
            {
                "name": table,
                "rows": f"{facts['rows']:,}",
                "sql": facts["sql"],
                "csv": f"/api/v1/releases/{name}/files/tables/{table}.csv",
                "parquet": f"/api/v1/releases/{name}/files/tables/{table}.parquet",
                "noisy": _noisy(manifest, name, table),
            }
            for table, facts in manifest["tables"].items()
        ],
    }


def _noisy(manifest: Mapping[str, Any], name: str, table: str) -> list[dict[str, str]]:
    return [
        {"name": each, "path": f"/api/v1/releases/{name}/files/measurements/{each}.csv"}
        for each, facts in manifest["measurements"].items()
        if facts["table"] == table
    ]


def table_view(
    shown: ShownTable, *, name: str, chosen: Mapping[str, str], measure: str = ""
) -> dict[str, Any]:
    """Return one table as a grid of its first two open keys, or as bars where there is only one.

    `measure` is the count or sum to show; where the table has none of that name, its first one.
    """
    keys = [key["name"] for key in shown.facts["keys"]]
    steps = {each["name"]: Fraction(each["step"]) for each in shown.facts["measures"]}
    first = next(iter(steps))
    measure = measure if measure in steps else first
    kept = {} if measure == first else {"measure": measure}
    fixed = {key: value for key, value in chosen.items() if key in keys}
    free = [key for key in keys if key not in fixed]
    rows = shown.rows.to_pylist() if shown.rows.num_rows <= MOST_BARS else []
    return {
        "name": shown.name,
        "measure": measure,
        "measures": [
            {
                "name": each,
                "here": each == measure,
                "path": _address(name, shown.name, {**fixed, "measure": each}),
            }
            for each in steps
        ],
        "step": "" if steps[measure] == 1 else plain(steps[measure]),
        "shown": f"{shown.rows.num_rows:,}",
        "crumbs": _crumbs(shown, name, fixed, kept),
        "choices": _choices(shown, name, {**fixed, **kept}, free),
        "grid": _grid(shown, measure, free) if len(free) == 2 else None,
        "bars": _bars(rows, free, measure) if rows and len(free) <= 1 else [],
        "open": free[2:] if len(free) > 2 else [],
    }


def _address(name: str, table: str, fixed: Mapping[str, str]) -> str:
    return f"/releases/{name}?" + urlencode({"table": table, **fixed})


def _crumbs(
    shown: ShownTable, name: str, fixed: Mapping[str, str], kept: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the chosen values, each with the address that opens it again."""
    return [
        {
            "key": key,
            "value": value,
            "path": _address(
                name, shown.name, {k: v for k, v in {**fixed, **kept}.items() if k != key}
            ),
        }
        for key, value in fixed.items()
    ]


def _choices(
    shown: ShownTable, name: str, fixed: Mapping[str, str], free: Sequence[str]
) -> list[dict[str, Any]]:
    """Return for each open key the values that lead further down."""
    if len(free) < 2:
        return []
    values = {key["name"]: key["values"] for key in shown.facts["keys"]}
    return [
        {
            "key": key,
            "more": max(0, len(values[key]) - MOST_GRID_ROWS),
            "values": [
                {"value": value, "path": _address(name, shown.name, {**fixed, key: value})}
                for value in values[key][:MOST_GRID_ROWS]
            ],
        }
        for key in free
    ]


def _grid(shown: ShownTable, measure: str, free: Sequence[str]) -> dict[str, Any] | None:
    values = {key["name"]: key["values"] for key in shown.facts["keys"]}
    down, across = sorted(free, key=lambda key: -len(values[key]))
    if len(values[across]) > MOST_GRID_COLUMNS or len(values[down]) > MOST_GRID_ROWS:
        return None
    cells = {
        (str(row[down]), str(row[across])): _cell(row, measure) for row in shown.rows.to_pylist()
    }
    largest = max((abs(cell["value"]) for cell in cells.values()), default=0) or 1
    for cell in cells.values():
        cell["part"] = f"{WIDTH * max(0, cell['value']) / largest:.1f}"
    lines = [
        {"name": value, "cells": [cells.get((value, other)) for other in values[across]]}
        for value in values[down]
    ]
    return {"down": down, "across": across, "columns": values[across], "lines": lines}


def _cell(row: Mapping[str, Any], measure: str) -> dict[str, Any]:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    half = (high - low) / 2
    return {
        "value": row[measure],
        "text": f"{row[measure]:,}",
        "interval": f"{low:,} to {high:,}",
        # By more than the width of a pattern alone: the template also says it in words.
        "weak": row[measure] <= half,
    }


def _bars(
    rows: Sequence[Mapping[str, Any]], free: Sequence[str], measure: str
) -> list[dict[str, Any]]:
    """Return a bar with its interval for each row, on one scale."""
    highest = max((row[f"{measure}_high"] for row in rows), default=0)
    lowest = min((0, *(row[f"{measure}_low"] for row in rows)))
    scale = WIDTH / max(1, highest - lowest)

    def at(value: int) -> str:
        return f"{(value - lowest) * scale:.2f}"

    return [
        _cell(row, measure)
        | {
            "name": str(row[free[0]]) if free else "all",
            "at": at(row[measure]),
            "from": at(min(0, row[measure])),
            "length": f"{abs(row[measure]) * scale:.2f}",
            "low": at(row[f"{measure}_low"]),
            "high": at(row[f"{measure}_high"]),
        }
        for row in rows
    ]


def price_words(left: float, limit: float, epsilon: float) -> str:
    """Return what the button says: what a release uses for good, and what it leaves."""
    rest = max(0.0, left - epsilon)
    return f"uses {amount(epsilon)} for good, leaves {amount(rest)} of {amount(limit)}"


MEMBERS = {
    ending: MEDIA_TYPES.get(ending, "text/plain; charset=utf-8")
    for ending in ("csv", "parquet", "html", "json", "toml", "py")
}
"""What can be downloaded on its own, by its ending, and its media type."""
LARGEST_MEMBER = 64 << 20
MOST_ROWS = 2_000_000
"""Tables with more rows are downloaded, not shown."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownTable:
    """One table of a release: its facts in the manifest, and the rows that pass the filters."""

    name: str
    facts: Mapping[str, Any]
    rows: pa.Table


@lru_cache(maxsize=32)
def _manifest(path: str, _changed: int) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return found


def manifest(path: Path) -> dict[str, Any]:
    """Return what the owner signed."""
    return _manifest(str(path), path.stat().st_mtime_ns)


def member(path: Path, name: str) -> bytes | None:
    """Return one member; None for names that the package does not list, or too large ones."""
    listed = manifest(path)["members"].get(name)
    if listed is None or listed["bytes"] > LARGEST_MEMBER:
        return None
    if name.rpartition(".")[2] not in MEMBERS:
        return None
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def table(path: Path, name: str, chosen: Mapping[str, str]) -> ShownTable | None:
    """Return a table with the rows whose keys have the chosen values."""
    facts = manifest(path)["tables"].get(name)
    if facts is None or facts["rows"] > MOST_ROWS:
        return None
    keys = {key["name"] for key in facts["keys"]}
    with zipfile.ZipFile(path) as archive:
        content = archive.read(f"tables/{name}.parquet")
    rows = pq.read_table(io.BytesIO(content))
    for key, value in chosen.items():
        if key in keys:
            rows = rows.filter(pc.equal(pc.cast(rows[key], pa.string()), value))
    return ShownTable(name, facts, rows)
