"""A small release with everything that a package can hold, and tools to damage it."""

from __future__ import annotations

import datetime as dt
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.proof import ROOT
from discreet.privacy.ledger.entry import link
from discreet.work.publish.contents import (
    Agreement,
    Contents,
    Fact,
    KeyFilter,
    MeasureColumn,
    Measurement,
    PriceEvent,
    PublicMapping,
    PublishedKey,
    PublishedTable,
    Side,
    SumLink,
    ZeroRule,
)
from discreet.work.publish.package import Archive, OwnerKey, write_package
from discreet.work.publish.zip_form import SIGNED

KEY = OwnerKey(bytes(range(32)))
REGIONS = {"North": "Hill", "South": "Harbour", "West, Old": "Harbour"}
SEXES = ("Female", "Male")
AGES = ("0-17", "18-34")
DELTA = Fraction(1, 10**9)
SIGMA_SQUARED = {"nation": Fraction(8), "by_region": Fraction(32)}


def key_column(name: str, values: tuple[str, ...]) -> PublishedKey:
    return PublishedKey(name, f"declared {name}", values)


def table(name: str, keys: tuple[PublishedKey, ...], values: np.ndarray) -> PublishedTable:
    grid = np.indices([len(key.values) for key in keys]).reshape(len(keys), -1)
    columns: dict[str, Any] = {
        key.name: pa.array([key.values[i] for i in place])
        for key, place in zip(keys, grid, strict=True)
    }
    flat = np.asarray(values).reshape(-1)
    columns["people"] = pa.array(flat)
    columns["people_low"] = pa.array(np.maximum(flat - 5, 0))
    columns["people_high"] = pa.array(flat + 5)
    sql = f"SELECT COUNT(*) AS people -- {name}"
    return PublishedTable(
        name, sql, keys, (MeasureColumn("people", "COUNT(*)"),), pa.table(columns)
    )


def measured(published: PublishedTable) -> Measurement:
    names = [key.name for key in published.keys]
    rows = published.rows.select(names)  # type: ignore[attr-defined]
    scale = float(SIGMA_SQUARED[published.name]) ** 0.5
    rows = rows.append_column("value", published.rows["people"])  # type: ignore[index]
    rows = rows.append_column("scale", pa.array([scale] * rows.num_rows))
    return Measurement(published.name, published.name, "people", rows)


def events() -> tuple[PriceEvent, ...]:
    cells = {"nation": 4, "by_region": 12}
    return tuple(
        PriceEvent(name, "gaussian", square, Fraction(1), cells[name])
        for name, square in SIGMA_SQUARED.items()
    )


def excerpt(cost: dict[str, Any]) -> dict[str, Any]:
    time = dt.datetime(2026, 1, 2, tzinfo=dt.UTC).isoformat()
    first = link(0, "limit", {"time": time, "dataset": "town"}, previous=ROOT)
    body = {"time": time, "dataset": "town", "cost": cost, "request_id": "town-2026"}
    paid = link(1, "charge", body, previous=first.hash)
    links = [
        {
            "position": each.position,
            "kind": each.kind,
            "body": each.body,
            "previous": each.previous,
            "hash": each.hash,
        }
        for each in (first, paid)
    ]
    return {"charge": 1, "head": paid.hash, "links": links}


def contents() -> Contents:
    regions = key_column("region", tuple(REGIONS))
    sexes, ages = key_column("sex", SEXES), key_column("age_group", AGES)
    fine = np.arange(12).reshape(3, 2, 2) * 7
    fine[1, :, 0] = 0  # no children in the barracks of South
    nation = table("nation", (sexes, ages), fine.sum(axis=0))
    by_region = table("by_region", (regions, sexes, ages), fine)
    common = (SumLink("sex", "sex"), SumLink("age_group", "age_group"))
    county = (SumLink("county", "region", "counties"),)
    totals = {"Hill": int(fine[0].sum()), "Harbour": int(fine[1:].sum())}
    rows = pa.table({"county": list(totals), "value": list(totals.values())})
    rho = sum((event.sensitivity / (2 * event.scale) for event in events()), Fraction(0))
    epsilon = Fraction("2.27")
    cost = {"epsilon": str(epsilon), "delta": str(DELTA), "rho": str(rho), "rho_delta": "0"}
    side = Side("by_region", "people", county)
    barracks = ((KeyFilter("region", ("South",)), KeyFilter("age_group", ("0-17",))),)
    return Contents(
        name="town-2026",
        dataset="town",
        unit="each row of people",
        neighbours="add-remove",
        epsilon=epsilon,
        delta=DELTA,
        rho=rho,
        events=events(),
        tables=(nation, by_region),
        measurements=(measured(nation), measured(by_region)),
        ledger=excerpt(cost),
        created="2026-01-02T00:00:00+00:00",
        snapshot="people-1",
        spec='[release]\nname = "town-2026"\n',
        mappings=(PublicMapping("counties", "region", "county", REGIONS),),
        agreements=(
            Agreement(Side("nation", "people", common), Side("by_region", "people", common)),
        ),
        facts=(Fact("fact-1", side, rows, "file", "published by the register"),),
        rules=(
            ZeroRule("region = 'South' AND age_group = '0-17'", "by_region", "people", barracks),
        ),
        well=("totals by sex",),
        badly=("single cells",),
    )


def package(folder: Path, found: Contents | None = None) -> Path:
    return write_package(found or contents(), folder / "RELEASE.zip", KEY)


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezipped(members: list[tuple[str, bytes]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return held.getvalue()


def repacked(members: list[tuple[str, bytes]]) -> bytes:
    """Return a package of these members, in which only the archive is as it should be."""
    held = io.BytesIO()
    with Archive(held) as archive:
        for name, content in members:
            archive.add(name, content)
    return held.getvalue()


def spelled_manifest(manifest: dict[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()


def resigned(
    members: dict[str, bytes],
    *,
    key: OwnerKey = KEY,
    spelled: Callable[[dict[str, Any]], bytes] = spelled_manifest,
    **changes: Any,
) -> bytes:
    """Return a package that its owner falsified and signed again: only the checks can object."""
    held = io.BytesIO()
    with Archive(held) as archive:
        for name, content in members.items():
            if name not in SIGNED:
                archive.add(name, content)
        manifest = json.loads(members["manifest.json"]) | {"members": archive.members} | changes
        text = spelled(manifest)
        archive.add("manifest.json", text)
        archive.add("signature", key.sign(text))
    return held.getvalue()


def with_table(found: Contents, changed: PublishedTable) -> Contents:
    tables = tuple(changed if t.name == changed.name else t for t in found.tables)
    return replace(found, tables=tables)
