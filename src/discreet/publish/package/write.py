"""write_package(): all members, then the manifest over them, then the signature over that."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.publish.contents import (
    Contents,
    Fact,
    Measurement,
    PublicMapping,
    PublishedTable,
)
from discreet.publish.package.archive import Archive
from discreet.publish.package.keys import OwnerKey
from discreet.publish.package.manifest import manifest_of
from discreet.publish.package.metadata import codebook, csvw, frictionless
from discreet.publish.package.rows import add_csv, add_parquet
from discreet.publish.package.sheet import sheet
from discreet.publish.package.verifier import verifier

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
LEFT_BEHIND = re.compile(r"\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.zip\.([0-9]{1,9})")


def write_package(contents: Contents, out: Path, key: OwnerKey) -> Path:
    """Return `out` after writing the signed package there.

    Guarantee: the same contents and key are the same bytes. `out` gets its name when the package is
        complete, signed and on the disk: nothing unsigned is ever found there, also after a crash.
    """
    _check_names(contents)
    with writing_package(out) as beside:
        _sweep(out)
        with beside.open("wb") as file:
            with Archive(file) as archive:
                _members(contents, archive)
                manifest = manifest_of(contents, key.public, archive.members)
                archive.add("manifest.json", manifest)
                archive.add("signature", key.sign(manifest))
            file.flush()
            os.fsync(file.fileno())
    return out


@contextmanager
def writing_package(out: Path, *, hint: str = "") -> Iterator[Path]:
    """Lend a place beside `out` whose file becomes `out` at the end: whole, or not at all."""
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(out)
    except OSError as error:
        said = f"The package cannot be written to '{out}': {error.strerror}."
        raise InvalidInput(said, hint=hint) from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _sweep(out: Path) -> None:
    """Remove what writers of packages left behind in this folder when they were killed, whatever its name."""
    for left in out.parent.iterdir():
        found = LEFT_BEHIND.fullmatch(left.name)
        if found is not None and not _lives(int(found[1])):
            left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True


def _check_names(contents: Contents) -> None:
    """Refuse names that would not be plain files of their own wherever the package is unpacked."""
    for kind in (contents.tables, contents.measurements, contents.mappings, contents.facts):
        names = [each.name for each in kind]
        for name in names:
            if not FILE_NAME.fullmatch(name):
                raise InvalidInput(
                    f"'{name}' cannot be the name of a file in a package.",
                    hint="Use letters, digits, dots, dashes and underscores, at most 100.",
                )
        if len({name.lower() for name in names}) != len(names):
            raise InvalidInput("Two parts of the release have the same name.")
    parts: list[PublishedTable | Measurement | Fact]
    parts = [*contents.tables, *contents.measurements, *contents.facts]
    for part in parts:
        if len(set(part.rows.schema.names)) != len(part.rows.schema.names):
            raise InvalidInput(f"Two columns of '{part.name}' have the same name.")


def _members(contents: Contents, archive: Archive) -> None:
    # What people and other tools read first.
    archive.add("sheet.html", sheet(contents))
    archive.add("codebook.csv", codebook(contents))
    archive.add("datapackage.json", frictionless(contents))
    archive.add("csv-metadata.json", csvw(contents))
    archive.add("ledger.json", (json.dumps(contents.ledger, indent=1) + "\n").encode())
    archive.add("spec.toml", contents.spec.encode())
    archive.add("verify.py", verifier())
    for mapping in contents.mappings:
        add_csv(archive, f"mappings/{mapping.name}.csv", _mapping_rows(mapping))
    for fact in contents.facts:
        add_csv(archive, f"facts/{fact.name}.csv", fact.rows)
    for table in contents.tables:
        add_csv(archive, f"tables/{table.name}.csv", table.rows)
        add_parquet(archive, f"tables/{table.name}.parquet", table.rows)
    for each in contents.measurements:
        add_csv(archive, f"measurements/{each.name}.csv", each.rows)


def _mapping_rows(mapping: PublicMapping) -> pa.Table:
    pairs = mapping.pairs
    columns = [pa.array(list(pairs), pa.string()), pa.array(list(pairs.values()), pa.string())]
    return pa.table(columns, names=[mapping.fine, mapping.coarse])
