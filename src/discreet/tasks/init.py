"""`discreet.init(FILE)`: a discreet.toml proposed for the owner to review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.base.numbers import Delta, Epsilon, Number
from discreet.base.schema import CategoryDomain, Column
from discreet.base.unit import PrivacyUnit
from discreet.data.catalog.edits import declared_tables
from discreet.data.catalog.proposal import InitRequest, propose_file, summary
from discreet.data.engines.base import Engine
from discreet.data.engines.column_types import Storage, storage
from discreet.privacy.kernel.losses import table_losses
from discreet.privacy.kernel.odd_values import has_ends


def init(
    *files: str | Path,
    out: str | Path = "discreet.toml",
    epsilon: Number | Epsilon | None = None,
    delta: Number | Delta | None = None,
    unit: str | None = None,
    dataset: str | None = None,
    accept: bool = False,
    force: bool = False,
    max_rows: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return what was proposed for these files or tables, after writing it as a discreet.toml."""
    request = InitRequest.of(
        *files,
        out=Path(out),
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        dataset=dataset,
        accept=accept,
        force=force,
        max_rows=max_rows,
    )
    lost: dict[str, list[str]] = {}

    def look(engine: Engine, text: str) -> None:
        lost.update(_lost(engine, text, Path(out), progress))

    proposal = propose_file(request, progress=progress, look=look)
    return {**summary(proposal, Path(out)), "lost": lost}


def _may_lose(column: Column) -> bool:
    return not (column.spelling.plain and isinstance(column.domain, CategoryDomain))


def _lost(
    engine: Engine, text: str, out: Path, progress: Callable[[str], None]
) -> dict[str, list[str]]:
    """Return what the owner should look at in the proposed declarations, by table.column.

    That is what would be read as missing, with examples, and odd values at the ends. Only texts can
    be lost, and of categories those with a spelling: other lists hold every value, and bounds were
    widened to hold all numbers.
    """
    found = {}
    for each in declared_tables(text, base=out.parent, file=out.name)[1]:
        name = each.table.name
        texts = {c for c, kind in engine.columns(name) if storage(kind) is Storage.TEXT}
        kept = tuple(
            c for c in each.table.columns if has_ends(c) or (c.name in texts and _may_lose(c))
        )
        progress(f"{name}: what would be lost")
        if kept:
            table = replace(each.table, columns=kept, unit=PrivacyUnit())
            losses = table_losses(engine, name, table, rare=False)
            for loss in losses.columns:
                words = [*([loss.words()] if loss.lost else []), *loss.odd]
                if words:
                    found[f"{name}.{loss.column}"] = words
    return found
