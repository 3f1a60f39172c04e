"""Files of exact facts: published ones only, and the very bytes that were approved."""

from __future__ import annotations

import csv
import hashlib
import io
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from discreet.catalog.catalog import Catalog
from discreet.catalog.read.reach import Reach, file_of, reach_of
from discreet.core.system.regular_file import open_regular, read_text
from discreet.errors import InvalidInput, RequestConflict

LARGEST_FILE = 1 << 28
HIDDEN = "."


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file of facts, nothing for one that cannot be read."""
    try:
        return hashlib.sha256(_content(path)).hexdigest()
    except OSError:
        return ""


def _content(path: Path) -> bytes:
    # More than the most is found too large by who reads it.
    with open_regular(path) as file:
        return file.read(LARGEST_FILE + 1)


def read_rows(
    path: Path, shown: str, names: Sequence[str], digest: str | None
) -> list[dict[str, str]]:
    """Return the rows of a file of facts; refuses one that is no longer what `digest` says."""
    try:
        content = _content(path)
        if len(content) > LARGEST_FILE:
            raise InvalidInput(f"'{shown}' is too large for a file of facts.")
        if digest is not None and hashlib.sha256(content).hexdigest() != digest:
            raise RequestConflict(
                f"'{shown}' has changed while the release was planned.",
                hint="Nothing was charged. Ask again; a changed file needs a new approval.",
            )
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        missing = [name for name in names if name not in (reader.fieldnames or ())]
        if missing:
            raise InvalidInput(f"'{shown}' has no column '{missing[0]}'.")
        return [{name: row[name] or "" for name in names} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidInput(f"The file of facts '{shown}' cannot be read.") from None


def check_published(files: Iterable[str], *, base: Path, catalog: Catalog) -> None:
    """Refuse files of facts that are not for publishing, before any of them is read for its rows.

    Guarantee: no file of facts is a private source under whatever name or link (`Reach`), the
        ledger, discreet.toml, in the state folder, or in a hidden folder. Copies are the owner's
        to know.
    """
    kept = catalog.state_folder.resolve()
    private = _private_reaches(catalog)
    for file in files:
        place = (base / file).resolve()
        named = {*Path(file).parts, place.name}
        hidden = any(part.startswith(HIDDEN) for part in named)
        if hidden or place.is_relative_to(kept):
            raise _not_published(file)
        mine = reach_of(str(place), base=base, engine_url="duckdb:")
        if any(mine.meets(other) for other in private):
            raise _not_published(file)


def _private_reaches(catalog: Catalog) -> list[Reach]:
    url = catalog.engine_url
    found = [
        reach_of(table.source, base=catalog.base, engine_url=url)
        for dataset in (catalog.every or catalog.datasets).values()
        for table in dataset.tables
        if not table.public
    ]
    found += [
        reach_of(source, base=catalog.base, engine_url=url) for source in _unfinished(catalog)
    ]
    own = [found_in for found_in in (file_of(url), file_of(catalog.ledger_url)) if found_in]
    own += [str(catalog.path)] if catalog.path is not None else []
    return found + [reach_of(each, base=catalog.base, engine_url="duckdb:") for each in own]


def _unfinished(catalog: Catalog) -> list[str]:
    """Return the sources of datasets that cannot be asked yet: they are private already."""
    if not catalog.unfinished or catalog.path is None:
        return []
    written = tomllib.loads(read_text(catalog.path)).get("datasets", {})
    tables = [written.get(name, {}).get("tables", {}) for name in catalog.unfinished]
    return [
        str(table["source"])
        for each in tables
        for table in each.values()
        if "source" in table and table.get("public") is not True
    ]


def _not_published(file: str) -> InvalidInput:
    return InvalidInput(
        f"'{file[:60]}' is no published file: it is a private source, or this system's own.",
        hint="[[exact]] names a file that was published before. Nothing was charged.",
    )
