"""Several files of one table: each of them once, and every column stored in one way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.errors import CatalogError

_SAFE = ({"whole number", "text"}, {"truth value", "text"}, {"date", "text"})
"""Ways that may stand beside each other: a cell's text is the same in both."""


def check_alike(name: str, paths: Sequence[Path], *, parquet: bool) -> None:
    """Refuse files that would count rows twice, or in which one file decides how others are read.

    Guarantee: after this, no file is read twice for one table, under whatever name; and what a cell means
        does not depend on how another file stores its column (an engine reads all of them in the widest type:
        one file of doubles would turn everybody's 1 into 1.0, which is another category and another person).
    """
    stats = [path.stat() for path in paths]
    if len({(found.st_dev, found.st_ino) for found in stats}) < len(stats):
        raise CatalogError(
            f"The source of table '{name}' names one file twice, by a link or two spellings.",
            hint="Its rows would count twice: leave one of the names out.",
        )
    if not parquet or len(paths) < 2:
        return
    stored: dict[str, set[str]] = {}
    for path, found in zip(paths, stats, strict=True):
        for column, way in _ways(str(path), found.st_mtime_ns, found.st_size, found.st_ino):
            stored.setdefault(column, set()).add(way)
    for column, ways in stored.items():
        if len(ways - {""}) > 1 and ways - {""} not in _SAFE:
            raise CatalogError(
                f"The files of table '{name}' store column '{column[:60]}' in different ways: "
                f"{', '.join(sorted(ways - {''}))}.",
                hint="Write all of them with one type; a writer may take whole numbers with gaps for decimals.",
            )


@lru_cache(maxsize=4096)
def _ways(path: str, changed: int, size: int, inode: int) -> tuple[tuple[str, str], ...]:
    """Return the columns of a Parquet file and how they are stored; the other arguments tell states apart."""
    del changed, size, inode
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        return ()  # whoever reads it says that it cannot be read
    return tuple((column.name.lower(), _way(column.type)) for column in schema)


def _way(kind: Any) -> str:
    """Return how a column is stored, widths aside; nothing where all cells are missing."""
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return _way(kind.value_type)
    if is_.is_null(kind):
        return ""
    for way, holds in (
        ("whole number", is_.is_integer(kind) and not is_.is_uint64(kind)),
        ("truth value", is_.is_boolean(kind)),
        ("text", is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind)),
        ("date", is_.is_date(kind)),
        ("timestamp", is_.is_timestamp(kind) and kind.tz is None),
    ):
        if holds:
            return way
    return str(kind)
