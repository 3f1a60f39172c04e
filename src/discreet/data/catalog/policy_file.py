"""Read discreet.toml into a `Catalog`, or refuse it with one clear sentence."""

from __future__ import annotations

import errno
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.files import read_bytes
from discreet.base.numbers import Delta, Epsilon, to_fraction
from discreet.base.schema import Dataset
from discreet.base.unit import ARROW, unit_path
from discreet.data.catalog.catalog import (
    ALERT,
    LENGTHS,
    Budget,
    Catalog,
    DeclaredCap,
    DeclaredStorage,
    Every,
    Renewal,
    engine_name,
)
from discreet.data.catalog.datasets import (
    Finished,
    Unfinished,
    check_shared,
    dataset_of,
    neighbours_of,
    refuse_ambiguous_names,
)
from discreet.data.catalog.file_shape import (
    AnalystShape,
    BudgetShape,
    DatasetShape,
    FileShape,
    RenewShape,
    shape_of,
)
from discreet.data.catalog.overlap import (
    check_budgets,
    check_ledger_apart,
    check_sources_apart,
    reach_of,
)
from discreet.data.catalog.sources import refuse_password
from discreet.errors import CatalogError, InvalidInput, UnknownName

FILE_NAME = "discreet.toml"
LARGEST_FILE = 16 << 20
"""Bytes of the largest discreet.toml that is read: a few hundred are enough for a column."""
HIDDEN_COLUMN, PERSON_COLUMN = "hidden in discreet.toml", "the person column"
"""Why a column is in no copy of its table."""


def meant_file(config: str | Path | None) -> Path:
    """Return the discreet.toml that is meant: the given one, that of a folder, or the one here."""
    path = Path(FILE_NAME) if config is None else Path(config)
    return path / FILE_NAME if path.is_dir() else path


def load(path: str | Path) -> Catalog:
    """Return the catalog that the file at `path` declares; a folder means its discreet.toml."""
    file = meant_file(path)
    return replace(loads(text_of(file), base=file.parent, name=file.name), path=file)


def hidden_from_file(file: Path, *, place: Path) -> dict[str, str]:
    """Return the columns of a data file that a discreet.toml keeps to itself, in lower case, and why.

    Every table that may read the file counts, finished or not, under whatever name, link or pattern.
    """
    shape = shape_of(_raw(text_of(place), place.name), file=place.name)
    here = reach_of(str(file.absolute()), base=place.parent, engine_url="duckdb:")
    found: dict[str, str] = {}
    for dataset in shape.datasets.values():
        for table in dataset.tables.values():
            own = reach_of(table.source, base=place.parent, engine_url=shape.engine.url)
            if not own.meets(here):
                continue
            person = table.unit if table.unit not in (None, "row") else None
            if person is not None:
                column = unit_path(person).column if ARROW in person else person
                found.setdefault(column.lower(), PERSON_COLUMN)
            for name, column_shape in table.columns.items():
                if column_shape.hidden:
                    found[name.lower()] = HIDDEN_COLUMN
    return found


def text_of(file: Path) -> str:
    """Return the text of a discreet.toml, every line end as it is written."""
    return decoded(content_of(file), file)


def content_of(file: Path) -> bytes:
    """Return the bytes of a discreet.toml."""
    try:
        return read_bytes(file, most=LARGEST_FILE)
    except FileNotFoundError:
        hint = "Run 'discreet init FILE' to propose one, or say where it is with --config."
        raise CatalogError(f"There is no file '{file}'.", hint=hint) from None
    except OSError as error:
        raise refusal_of(error, str(file)) from None


def refusal_of(error: OSError, name: str, *, hint: str = "") -> CatalogError:
    """Return why a discreet.toml cannot be read."""
    if error.errno == errno.EFBIG:
        return CatalogError(
            f"The file '{name}' is larger than {LARGEST_FILE >> 20} MB.",
            hint="Put the right file in its place.",
        )
    return CatalogError(f"The file '{name}' cannot be read.", hint=hint)


def decoded(content: bytes, file: Path) -> str:
    """Return the text of the bytes of `file`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CatalogError(f"The file '{file}' is not UTF-8 text.") from None


def loads(text: str, *, base: Path, name: str = FILE_NAME) -> Catalog:
    """Return the catalog that `text` declares; relative paths in it start at `base`."""
    shape = shape_of(_raw(text, name), file=name)
    try:
        return _catalog(shape, base)
    except (CatalogError, InvalidInput) as error:
        raise type(error)(f"{name}: {error.message}", hint=error.hint) from None


def _raw(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{name} is not valid TOML: {error}.") from None


def _catalog(shape: FileShape, base: Path) -> Catalog:
    refuse_ambiguous_names(shape.datasets, "datasets")
    declared = {
        name: dataset_of(
            name,
            dataset,
            budgets=shape.budgets,
            base=base,
            engine_url=shape.engine.url,
            alone=not shape.analysts,
        )
        for name, dataset in shape.datasets.items()
    }
    datasets = {n: d.dataset for n, d in declared.items() if isinstance(d, Finished)}
    unfinished = {n: d for n, d in declared.items() if isinstance(d, Unfinished)}
    budgets = _budgets(shape, datasets)
    check_budgets(datasets)
    check_shared(datasets)
    url, ledger = shape.engine.url, shape.ledger.url
    for address in (url, ledger):
        refuse_password(address)
    check_sources_apart(datasets, base=base, engine_url=url)
    check_ledger_apart(datasets, base=base, engine_url=url, ledger_url=ledger)
    analysts, doubts = _analysts(shape.analysts, shape.datasets, datasets, budgets)
    warnings = [w for d in declared.values() for w in d.warnings]
    _refuse_one_name_for_two(datasets)
    return Catalog(
        base=base,
        engine_url=url,
        ledger_url=ledger,
        datasets=datasets,
        budgets=budgets,
        analysts=analysts,
        unfinished={n: d.sentence for n, d in unfinished.items()},
        waiting={n: d.tables for n, d in unfinished.items()},
        warnings=(*warnings, *doubts),
        allow_superuser=shape.engine.allow_superuser,
        storage=DeclaredStorage(shape.storage.encrypted, shape.storage.vouched),
        every=datasets,
    )


def _refuse_one_name_for_two(datasets: Mapping[str, Dataset]) -> None:
    """Refuse tables that an engine would know under one name: dataset 'a' with 'b.c', and 'a.b' with 'c'."""
    known: dict[str, str] = {}
    for dataset in datasets.values():
        for table in dataset.tables:
            place = f"table '{table.name}' of dataset '{dataset.name}'"
            other = known.setdefault(engine_name(dataset, table).casefold(), place)
            if other != place:
                raise CatalogError(
                    f"{other} and {place} would have one and the same name.",
                    hint="Rename one of them, or its dataset: a dot in a name, and capital or small letters, do "
                    "not tell tables apart.",
                )


def _budgets(shape: FileShape, datasets: Mapping[str, Dataset]) -> dict[str, Budget]:
    found: dict[str, Budget] = {}
    for name, shared in shape.budgets.items():
        if name in shape.datasets and shape.datasets[name].budget is None:
            raise CatalogError(
                f"budget '{name}' has the name of a dataset with a budget of its own; rename it."
            )
        found[name] = _budget(name, shared, f"budget '{name}'")
    for name, dataset in datasets.items():
        if dataset.budget == name and name not in found:
            found[name] = _budget(name, shape.datasets[name], f"dataset '{name}'")
    return found


def _budget(name: str, shape: BudgetShape, place: str) -> Budget:
    if shape.epsilon is None:
        raise CatalogError(f"{place} needs epsilon, the most that its people can lose in all.")
    try:
        return Budget(
            name=name,
            epsilon=Epsilon.of(shape.epsilon),
            delta=Delta.of(0 if shape.delta is None else shape.delta),
            neighbours=neighbours_of(shape.neighbours),
            renewal=None if shape.renew is None else _renewal(shape.renew),
            alert=ALERT if shape.alert is None else _alert(shape.alert),
        )
    except (InvalidInput, CatalogError) as error:
        raise CatalogError(f"{place}: {error.message}", hint=error.hint) from None


def _renewal(shape: RenewShape) -> Renewal:
    lengths = [each.value for each in LENGTHS]
    if shape.every not in lengths:
        raise CatalogError(f"renew: 'every' is {', '.join(lengths[:-1])} or {lengths[-1]}.")
    return Renewal(
        every=Every(shape.every),
        since=shape.since,
        epsilon=Epsilon.of(shape.epsilon),
        delta=Delta.of(0 if shape.delta is None else shape.delta),
        share=None if shape.share is None else Epsilon.of(shape.share),
        at_most=shape.at_most,
        granted=shape.granted,
    )


def _alert(written: int | Decimal) -> Fraction:
    part = to_fraction(written, name="alert")
    if not 0 < part <= 1:
        raise CatalogError("alert is a part of the budget, above 0 and at most 1.")
    return part


def _analysts(
    shapes: Mapping[str, AnalystShape],
    declared: Mapping[str, DatasetShape],
    datasets: Mapping[str, Dataset],
    budgets: Mapping[str, Budget],
) -> tuple[dict[str, dict[str, DeclaredCap]], list[str]]:
    found: dict[str, dict[str, DeclaredCap]] = {}
    doubts: list[str] = []
    for analyst, shape in shapes.items():
        found[analyst] = {}
        by_budget: dict[str, tuple[str, DeclaredCap]] = {}
        for name, written in shape.datasets.items():
            if name not in declared:
                raise UnknownName(f"analyst '{analyst}' has a cap for unknown dataset '{name}'.")
            if name not in datasets:
                continue
            budget = budgets[datasets[name].budget]
            place = f"analyst '{analyst}', dataset '{name}'"
            try:
                delta = budget.delta if written.delta is None else Delta.of(written.delta)
                cap = DeclaredCap(Epsilon.of(written.epsilon), delta)
            except InvalidInput as error:
                raise CatalogError(f"{place}: {error.message}", hint=error.hint) from None
            other, same = by_budget.setdefault(budget.name, (name, cap))
            if same != cap:
                raise CatalogError(
                    f"{place}: '{other}' shares its budget, so both need the same cap."
                )
            if cap.epsilon > budget.epsilon:
                doubts.append(f"{place}: the cap is above the total, which still limits.")
            found[analyst][name] = cap
    return found, doubts
