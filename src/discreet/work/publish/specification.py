"""SPEC.toml: what a release should hold, as frozen values; nothing here knows the data.

Its files of exact facts are published ones only, and the very bytes that were approved.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.base.files import open_regular, read_text
from discreet.base.numbers import Delta, Epsilon, to_fraction
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.overlap import Reach, file_of, reach_of
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


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ACCURACY = re.compile(
    r"\s*([0-9.]{1,20})\s*%\s+of\s+cells\s+over\s+([0-9_,]{1,20})\s+within\s+([0-9.]{1,20})\s*%\s*"
)
LARGEST_SPEC = 1 << 20
"""No release needs a longer description, in characters."""
LONGEST_NUMBER = 100
"""Digits of a number: an exact form with more could fill the memory."""


@dataclass(frozen=True, slots=True)
class AccuracyTarget:
    """An accuracy that a table must reach: this part of its cells over `size` within `within`."""

    confidence: Fraction
    size: int
    within: Fraction


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table to publish: its SELECT, and how much of the budget or which accuracy it gets."""

    name: str
    sql: str
    share: Fraction | None = None
    accuracy: AccuracyTarget | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A column that is cut into classes: [edge, next edge), the last edge left out."""

    name: str
    column: str
    edges: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class FactSpec:
    """Numbers that stay exact: a SELECT, and the published file they stand in, if any."""

    sql: str
    reason: str
    approver: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A release as it was written. `text` is the file itself; `base` where its files lie.

    `rules` are conditions over grouped columns under which every cell is zero.
    `files` has the SHA-256 of every file of exact facts as it was when the spec was read, empty
    for one that could not be read.
    """

    name: str
    dataset: str
    epsilon: Epsilon
    delta: Delta
    tables: tuple[TableSpec, ...]
    cuts: tuple[Cut, ...]
    facts: tuple[FactSpec, ...]
    rules: tuple[str, ...]
    text: str
    base: Path
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return what must be the same when a release is asked for again: all that was written.

        The contents of files of exact facts belong to it: who approves a release approves them.
        """
        parts = [f"\0{name}\0{found}" for name, found in sorted(self.files.items())]
        return hashlib.sha256("".join([self.text, *parts]).encode()).hexdigest()


def spec_of(written: str | Path | Spec) -> Spec:
    """Return a release that is a spec already, or the one that a file describes."""
    if isinstance(written, Spec):
        return written
    place = Path(written)
    try:
        text = read_text(place)
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(
            f"There is no readable file '{place}'.", hint="Write a SPEC.toml: docs/publish.md."
        ) from None
    return parse_spec(text, base=place.parent, name=place.name)


def parse_spec(text: str, *, base: Path, name: str = "the spec") -> Spec:
    """Return the release that a text describes, or say in one sentence what is wrong with it."""
    if len(text) > LARGEST_SPEC:
        raise InvalidInput(f"{name} is longer than {LARGEST_SPEC:,} characters.")
    found = _toml(text, name)
    _only(found, {"release", "tables", "cuts", "exact", "rules"}, name)
    release = _table(found, "release", name)
    _only(release, {"name", "dataset", "epsilon", "delta"}, "[release]")
    if "epsilon" not in release:
        raise InvalidInput("[release] must say epsilon.", hint="For example: epsilon = 1.0")
    tables = _table(found, "tables", name)
    if not tables:
        raise InvalidInput(f"{name} has no [tables.NAME].", hint="A release needs one table.")
    cuts = _table(found, "cuts", "the spec") if "cuts" in found else {}
    facts = tuple(_fact(value) for value in _list(found, "exact"))
    spec = Spec(
        name=_name(_text(release, "name", "[release]"), "name of the release"),
        dataset=_text(release, "dataset", "[release]"),
        epsilon=Epsilon.of(_number(release["epsilon"], "epsilon")),
        delta=Delta.of(_number(release.get("delta", 0), "delta")),
        tables=tuple(_one_table(key, value) for key, value in tables.items()),
        cuts=tuple(_cut(key, value) for key, value in cuts.items()),
        facts=facts,
        rules=tuple(_rule(value) for value in _list(found, "rules")),
        text=text,
        base=base,
        files={fact.file: hash_of(base / fact.file) for fact in facts if fact.file is not None},
    )
    _check_shares(spec)
    return spec


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        if "twice" in said or "overwrite" in said:
            said = f"two tables or keys have one name ({said})"
        raise InvalidInput(f"{name} is no valid TOML: {said}.") from None
    except (ArithmeticError, RecursionError, ValueError):
        raise InvalidInput(
            f"{name} nests too deeply, or has a number of too many digits."
        ) from None


def _check_shares(spec: Spec) -> None:
    names = [table.name.lower() for table in spec.tables]
    if len(set(names)) != len(names):
        raise InvalidInput("Two tables have one name; upper and lower case do not tell them apart.")
    given = sum((table.share for table in spec.tables if table.share is not None), Fraction(0))
    all_given = all(table.share is not None for table in spec.tables)
    if given > 1 or (given == 1 and not all_given):
        raise InvalidInput(f"The shares leave nothing for the other tables: they are {given}.")


def _one_table(name: str, value: Any) -> TableSpec:
    place = f"[tables.{name}]"
    _only(value, {"sql", "share", "accuracy"}, place)
    _name(name, "name of a table")
    share = value.get("share")
    part = None if share is None else _number(share, f"{place} share")
    if part is not None and not 0 < part <= 1:
        raise InvalidInput(f"{place}: share must lie between 0 and 1.")
    accuracy = value.get("accuracy")
    if accuracy is not None and part is not None:
        raise InvalidInput(f"{place} has a share and an accuracy: keep one of them.")
    return TableSpec(
        name, _text(value, "sql", place), part, None if accuracy is None else target_of(accuracy)
    )


def target_of(written: Any) -> AccuracyTarget:
    """Return the accuracy target that a sentence such as 95% of cells over 500 within 5% states."""
    found = _ACCURACY.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        raise InvalidInput(
            f"The accuracy '{str(written)[:60]}' is not understood.",
            hint='Write it like "95% of cells over 500 within 5%".',
        )
    confidence, size, within = found.groups()
    target = AccuracyTarget(
        to_fraction(confidence, name="The accuracy's part of cells") / 100,
        int(size.replace(",", "").replace("_", "") or 0),
        to_fraction(within, name="The accuracy's distance") / 100,
    )
    if not 0 < target.confidence < 1 or target.size <= 0 or target.within <= 0:
        raise InvalidInput(f"The accuracy '{written[:60]}' is never met by any noise.")
    return target


def _cut(name: str, value: Any) -> Cut:
    place = f"cuts.{name}"
    _only(value, {"column", "edges"}, place)
    written = value.get("edges")
    if not isinstance(written, list) or len(written) < 2:
        raise InvalidInput(f"{place}: edges must be a list of at least two numbers.")
    edges = tuple(_number(edge, place) for edge in written)
    if any(one >= two for one, two in pairwise(edges)):
        raise InvalidInput(f"{place}: edges must ascend.")
    return Cut(name, _text(value, "column", place), edges)


def _fact(value: Any) -> FactSpec:
    _only(value, {"fact", "reason", "approver", "file"}, "[[exact]]")
    file = value.get("file")
    if file is not None and (not isinstance(file, str) or not _is_beside(file)):
        raise InvalidInput("[[exact]]: file must be the name of a CSV file beside the spec.")
    named = file is None or "approver" in value
    approver = _text(value, "approver", "[[exact]]") if named else ""
    return FactSpec(
        _text(value, "fact", "[[exact]]"), _text(value, "reason", "[[exact]]"), approver, file
    )


def _is_beside(file: str) -> bool:
    """Return whether a file lies in the spec's own folder or below it, whatever the system."""
    parts = file.replace("\\", "/").split("/")
    return bool(file.strip()) and not Path(file).is_absolute() and not {"", "..", "~"} & set(parts)


def _rule(value: Any) -> str:
    _only(value, {"zero"}, "[[rules]]")
    return _text(value, "zero", "[[rules]]")


def _table(found: Any, key: str, place: str) -> dict[str, Any]:
    value = found.get(key)
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must have [{key}].", hint="docs/publish.md has an example.")
    return value


def _list(found: dict[str, Any], key: str) -> list[Any]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise InvalidInput(f"Write [[{key}]] with two brackets: there may be several.")
    return value


def _only(value: Any, known: set[str], place: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must be a table of keys and values.")
    unknown = sorted(set(value) - known)
    if unknown:
        raise InvalidInput(
            f"{place} has an unknown key '{unknown[0]}'.",
            hint=f"Known: {', '.join(sorted(known))}.",
        )


def _text(value: dict[str, Any], key: str, place: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found.strip():
        raise InvalidInput(f"{place} must say {key}, as a text.")
    return found


def _name(text: str, what: str) -> str:
    if not _NAME.fullmatch(text):
        raise InvalidInput(
            f"The {what} may hold letters, digits, - and _, at most 64, not '{text[:40]}'."
        )
    return text


def _number(value: Any, place: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidInput(f"{place} must be a number.")
    if isinstance(value, int):
        long = abs(value) >= 10**LONGEST_NUMBER
    else:
        long = len(value.as_tuple().digits) > LONGEST_NUMBER
    if long:
        raise InvalidInput(f"{place} has too many digits.")
    return to_fraction(value, name=place)
