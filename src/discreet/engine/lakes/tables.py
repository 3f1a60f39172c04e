"""Folders that are tables of a lake, not heaps of files: what they mean, or why they are refused."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from discreet.engine.declared import DeclaredCell, folded
from discreet.engine.lakes.delta import LOG, DeltaFile, FileColumn, delta_files, file_value
from discreet.errors import CatalogError

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_UP = 8
"""So many folders above a file are searched for a table that it belongs to."""


def lake_files(name: str, folder: Path) -> tuple[DeltaFile, ...] | None:
    """Return the files of a Delta table, None for a folder of files; refuse other tables by name."""
    if (folder / LOG).is_dir():
        return delta_files(name, folder)
    kind = _other(str(folder))
    if kind is not None:
        raise CatalogError(
            f"The source of table '{name}' is {kind} table, which is not read here.",
            hint="Some of its files hold rows that were deleted since: export the newest state to Parquet and declare that.",
        )
    return None


def refuse_parts(name: str, paths: Iterable[Path]) -> None:
    """Refuse files that belong to a table of a lake: which of them count, only its log knows."""
    for folder in {str(above) for path in paths for above in path.parents[:_UP]}:
        if _is_folder(f"{folder}/{LOG}") or _other(folder) is not None:
            raise CatalogError(
                f"The source of table '{name}' names files inside a table of a lake ({Path(folder).name}).",
                hint="Some of them hold rows that were deleted since: declare the table's folder itself.",
            )


def folder_columns(
    paths: Sequence[Path], cells: Iterable[DeclaredCell], base: Path
) -> tuple[tuple[FileColumn, ...], ...]:
    """Return for each file the declared columns that its folders name: year=2024/town=A%20b.

    Their values are texts, and read as declared like those of a text file. Nothing at all where no folder
    names such a column. Folders above `base`, in which the project lies, say nothing of its rows.
    """
    declared = {folded(cell.column) for cell in cells}
    found = []
    for path in paths:
        named: dict[str, FileColumn] = {}
        below = path.relative_to(base) if path.is_relative_to(base) else path
        for piece in below.parts[:-1]:
            column, mark, value = piece.partition("=")
            if mark and folded(column) in declared:
                text = unquote(value)
                said = None if text == _NO_VALUE else file_value(text)
                named.setdefault(folded(column), FileColumn(column, said, "VARCHAR"))
        found.append(tuple(named.values()))
    return tuple(found) if any(found) else ()


def _other(folder: str) -> str | None:
    if _is_folder(f"{folder}/metadata") and any(Path(folder).glob("metadata/*.metadata.json")):
        return "an Iceberg"
    return "a Hudi" if _is_folder(f"{folder}/.hoodie") else None


def _is_folder(place: str) -> bool:
    return os.path.isdir(place)  # noqa: PTH112  # asked for every question, several times: five times as fast
