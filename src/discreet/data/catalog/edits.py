"""Edits of the text of a discreet.toml: sections, columns, budgets, shares, datasets and renewals.

All the rest of the file stays as it was written. Each change is checked against what the parser says before and after:
if anything but the wanted settings would differ, nothing is changed and the owner is asked to edit the file by hand.
A dataset's name takes its shares along, a total rises by the owner's word alone, and the last share is not taken away
by the way. Also says which columns still wait for the owner's review.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from discreet.base.schema import Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.datasets import one_reading, table_of
from discreet.data.catalog.file_shape import DatasetShape, FileShape, shape_of
from discreet.data.catalog.toml_text import (
    Setting,
    TomlValue,
    analyst_lines,
    composed,
    heading,
    setting,
    settings_lines,
)
from discreet.errors import CatalogError, InvalidInput, UnknownName

_WORDS = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'''.*?'''|'[^'\n]*'|(?P<comment>#[^\r\n]*)",
    re.DOTALL,
)
"""Texts of TOML, in which a # is a letter, and comments."""


@dataclass(frozen=True, slots=True)
class TomlSection:
    """Lines `first` to `last` (not included) under one [heading].

    Comments right above the next heading are the next section's.
    """

    path: tuple[str, ...]
    first: int
    last: int


def sections_of(lines: list[str]) -> Iterator[TomlSection]:
    """Yield the sections of a file."""
    heads = [(i, path) for i, line in enumerate(lines) if (path := _heading(line))]
    ends = [_without_comments(lines, first) for first, _ in heads[1:]] + [len(lines)]
    for (first, path), last in zip(heads, ends, strict=False):  # no heading has no end
        yield TomlSection(path, first, last)


def _without_comments(lines: list[str], end: int) -> int:
    while lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def comments_of(text: str) -> list[str]:
    """Return the comments of a piece of TOML, each from its # to the end of its line."""
    return [found["comment"] for found in _WORDS.finditer(text) if found["comment"]]


def entries_of(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, end and key of each setting; one may go over several lines."""
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and read_toml("".join(lines[at:end])) is None:
            end += 1
        found = read_toml("".join(lines[at:end]))
        if found and len(found) == 1:
            yield at, end, next(iter(found))
        at = end


def said_anew(lines: list[str], said: str) -> list[str]:
    """Return the lines of one setting, or of a heading, as they say `said`; their comments stay.

    One that stood behind it stands behind it again, those among its lines stand above it.
    """
    ending = lines[-1][len(lines[-1].rstrip("\r\n")) :] or "\n"
    above, behind = comments_of("".join(lines)), comments_of(lines[-1])
    gap = ""
    if behind:
        before = lines[-1].rstrip("\r\n").removesuffix(above.pop())
        gap = before[len(before.rstrip()) :]
    return [f"{each}{ending}" for each in above] + [f"{said}{gap}{''.join(behind)}{ending}"]


def _heading(line: str) -> tuple[str, ...]:
    """Return the path of a [heading]; empty for every other line."""
    if not line.lstrip().startswith("["):
        return ()
    inner: Any = read_toml(line)
    path: list[str] = []
    while isinstance(inner, dict) and inner:
        name = next(iter(inner))
        path.append(name)
        inner = inner[name]
    return tuple(path) if inner == {} else ()


def with_settings(
    text: str, place: tuple[str, ...], settings: Mapping[str, TomlValue | None]
) -> str:
    """Return `text` in which [place] has these settings, a new one before all others; None takes one away."""
    wanted = parsed(text)
    there = inside(wanted, place)
    for name in settings:
        there.pop(name, None)
    there.update(parsed("\n".join(settings_lines(settings))))
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path == place]):
        body, left = lines[section.first + 1 : section.last], dict(settings)
        for first, last, name in reversed(list(entries_of(body))):
            value = left.pop(name, None)
            if value is not None:
                body[first:last] = said_anew(body[first:last], setting(name, value))
            elif name in settings:
                body[first:last] = [f"{each}\n" for each in comments_of("".join(body[first:last]))]
        added = [f"{each}\n" for each in settings_lines(left)]
        lines[section.first + 1 : section.last] = added + body
    return checked("".join(lines), wanted)


def inside(raw: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings at a place, made where there are none."""
    for name in place:
        raw = raw.setdefault(name, {})
    return raw


def parsed(text: str) -> dict[str, Any]:
    """Return all settings of a file, numbers as they are written."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"discreet.toml is not valid TOML: {error}.") from None


def read_toml(text: str) -> dict[str, Any] | None:
    """Return the settings of a text, None where it is no TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        return None


def checked(text: str, wanted: dict[str, Any]) -> str:
    """Return `text` if it says exactly what is wanted; refuse otherwise."""
    if read_toml(text) != wanted:
        raise CatalogError(
            "This part of discreet.toml is written in a way that we do not change.",
            hint="Edit the file by hand; a running server takes it up within a second.",
        )
    return text


Amounts: TypeAlias = Mapping[str, Decimal | Fraction]
"""Settings by name: epsilon and perhaps delta."""
Totals: TypeAlias = Mapping[str, Decimal | Fraction | None]
"""The same, where None takes one away."""


def with_section(text: str, section: str) -> str:
    """Return `text` with one more section at its end."""
    start = text.rstrip("\n")
    return f"{start}\n\n{section}" if start else section


def with_totals(text: str, totals: Totals) -> str:
    """Return `text` in which every dataset with a budget of its own has these totals in place of those it states.

    Refuses where there is no such dataset, or where one does not state what shall be replaced.
    """
    datasets = parsed(text).get("datasets", {}).items()
    own = [name for name, settings in datasets if "budget" not in settings]
    stated = [totals.keys() <= settings.keys() for name, settings in datasets if name in own]
    if not own or not all(stated):
        raise CatalogError(
            f"A dataset does not state {' and '.join(totals)}, which were to change."
        )
    for dataset in own:
        text = with_settings(text, ("datasets", dataset), totals)
    return text


def with_share(text: str, analyst: str, dataset: str, amounts: Amounts | None) -> str:
    """Return `text` in which the analyst has this share of the dataset; None takes it away."""
    wanted = parsed(text)
    analysts = wanted.setdefault("analysts", {})
    shares = analysts.setdefault(analyst, {}).setdefault("datasets", {})
    shares.pop(dataset, None)
    if amounts is not None:
        shares[dataset] = parsed("\n".join(settings_lines(amounts)))
    if not shares:
        del analysts[analyst]
    if not analysts:
        del wanted["analysts"]
    lines = text.splitlines(keepends=True)
    mine = [s for s in sections_of(lines) if s.path[:2] == ("analysts", analyst)]
    entries = [name for s in mine for _, _, name in entries_of(lines[s.first + 1 : s.last])]
    if shares and [s.path for s in mine] == [("analysts", analyst)] and entries == ["datasets"]:
        return with_settings(text, ("analysts", analyst), {"datasets": shares})
    for section in reversed(mine):
        body = "".join(lines[section.first : section.last])
        lines[section.first : section.last] = [f"{each}\n" for each in comments_of(body)]
    rest = "".join(lines)
    if not shares:
        return checked(rest, wanted)
    return checked(with_section(rest, composed(analyst_lines(analyst, shares))), wanted)


ColumnSettings: TypeAlias = Mapping[str, Setting]


def with_columns(
    text: str,
    dataset: str,
    table: str,
    columns: Mapping[str, Callable[[ColumnSettings], ColumnSettings]],
) -> str:
    """Return `text` in which each of these columns is declared as its function changes it."""
    declared = declared_settings(text, dataset, table)
    new = {name: change(declared.get(name, {})) for name, change in columns.items()}
    return with_settings(text, _place(dataset, table), new)


def declared_settings(text: str, dataset: str, table: str) -> dict[str, ColumnSettings]:
    """Return the settings of a table's columns as they are written."""
    found = inside(parsed(text), _place(dataset, table))
    return {name: as_settings(settings) for name, settings in found.items()}


def _place(dataset: str, table: str) -> tuple[str, ...]:
    return ("datasets", dataset, "tables", table, "columns")


def accepted(settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration without its mark: the owner says that it is public knowledge."""
    return {key: value for key, value in settings.items() if key != "review"}


def hidden(_settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration of a column that nobody can ask about."""
    return {"type": "text", "hidden": True}


def as_settings(raw: Mapping[str, Any]) -> dict[str, Setting]:
    """Return parsed settings in the kinds that are written to a file."""
    return {key: _setting(value) for key, value in raw.items()}


def _setting(value: Any) -> Setting:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return {key: tuple(str(item) for item in items) for key, items in value.items()}
    setting: Setting = value
    return setting


_PROMISED = ("epsilon", "delta", "neighbours", "renew", "alert")


def without_dataset(text: str, name: str) -> str:
    """Return `text` without one dataset; shares of it must be gone before."""
    wanted = parsed(text)
    if name not in wanted.get("datasets", {}):
        raise UnknownName(f"There is no dataset '{name}'.")
    del wanted["datasets"][name]
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path[:2] == ("datasets", name)]):
        del lines[section.first : section.last]
    if not wanted["datasets"] and "datasets" not in parsed("".join(lines)):
        del wanted["datasets"]
    return checked("".join(lines), wanted)


def with_new_name(text: str, old: str, new: str) -> str:
    """Return `text` in which a dataset has another name and still pays from the same budget.

    Guarantee: what was spent stays spent. The ledger knows people by the name of their budget, so
        that name stays: a dataset with a budget of its own gets [budgets.OLD], and draws on it.
    """
    wanted = parsed(text)
    datasets = wanted.get("datasets", {})
    if old not in datasets:
        raise UnknownName(f"There is no dataset '{old}'.")
    if new in datasets or new in wanted.get("budgets", {}):
        raise CatalogError(f"There is a dataset or budget '{new}' already.")
    settings = datasets[old]
    promised = {key: settings.pop(key) for key in _PROMISED if key in settings}
    if promised:
        settings["budget"] = old
        inside(wanted, ("budgets", old)).update(promised)
    wanted["datasets"] = {new if name == old else name: facts for name, facts in datasets.items()}
    lines, moved = _renamed_lines(text.splitlines(keepends=True), old, new, promised)
    if promised:
        lines += ["\n", f"{heading('budgets', old)}\n", *moved]
    return checked("".join(lines), wanted)


def _renamed_lines(
    lines: list[str], old: str, new: str, promised: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the lines under the new name, and those of the promise, which move to its budget."""
    moved: list[str] = []
    for section in reversed(list(sections_of(lines))):
        if section.path[:2] != ("datasets", old):
            continue
        body = lines[section.first + 1 : section.last]
        if len(section.path) == 2 and promised:
            for first, last, name in reversed(list(entries_of(body))):
                if name in promised:
                    moved[:0] = body[first:last]
                    del body[first:last]
            body.insert(0, f"{setting('budget', old)}\n")
        head = said_anew([lines[section.first]], heading("datasets", new, *section.path[2:]))
        lines[section.first : section.last] = [*head, *body]
    return lines, moved


def renamed_with_shares(text: str, old: Catalog, dataset: str, name: str) -> str:
    """Return `text` in which a dataset has another name, and analysts their shares of it."""
    found = old.dataset(dataset).name
    shares = _shares(old, found)
    text = with_new_name(_unshared(text, shares, found), found, name)
    for analyst, amounts in shares.items():
        text = with_share(text, analyst, name, amounts)
    return text


def removed_with_shares(text: str, old: Catalog, dataset: str) -> str:
    """Return `text` without a dataset and all shares of it, unless no analyst would have one of any other."""
    found = old.dataset(dataset).name
    shares = _shares(old, found)
    last = [analyst for analyst in shares if set(old.analysts[analyst]) == {found}]
    if shares and len(last) == len(old.analysts) and len(old.datasets) > 1:
        raise InvalidInput(
            "Without this data set nobody would have a share, and every question would be the "
            "owner's, limited by the totals alone.",
            hint="Give an analyst a share of another data set first.",
        )
    return without_dataset(_unshared(text, shares, found), found)


def with_total(text: str, old: Catalog, dataset: str, amounts: Amounts, *, agreed: bool) -> str:
    """Return `text` with another total of a dataset, or of the budget that it draws on.

    Lower at any time; one that is raised breaks a promise, so it needs the owner's word.
    """
    found = old.dataset(dataset)
    budget = old.budget_of(found)
    limits = {"epsilon": budget.epsilon.value, "delta": budget.delta.value}
    higher = any(amount > limits[name] for name, amount in amounts.items())
    if higher and not agreed:
        raise InvalidInput(
            "A higher budget promises less to everybody in the data than they were promised.",
            hint="Send agreed: true if they may lose that much.",
        )
    shared = found.budget != found.name
    place = ("budgets", found.budget) if shared else ("datasets", found.name)
    return with_settings(text, place, amounts)


def without_share(text: str, old: Catalog, analyst: str, dataset: str) -> str:
    """Return `text` in which an analyst has no share of a dataset, unless it is the last of all."""
    name = old.dataset(dataset).name
    if name not in old.analysts.get(analyst, {}):
        raise UnknownName("This analyst has no share of this dataset.")
    if len(old.analysts) == 1 and len(old.analysts[analyst]) == 1:
        raise InvalidInput(
            "This is the last share of the last analyst. Without analysts every question is "
            "the owner's, limited by the total alone.",
            hint="Add another analyst first, or edit discreet.toml by hand.",
        )
    return with_share(text, analyst, name, None)


def _shares(catalog: Catalog, dataset: str) -> dict[str, Amounts]:
    found: dict[str, Amounts] = {}
    for analyst, caps in catalog.analysts.items():
        if dataset in caps:
            cap = caps[dataset]
            delta = {"delta": cap.delta.value} if cap.delta.value else {}
            found[analyst] = {"epsilon": cap.epsilon.value} | delta
    return found


def _unshared(text: str, analysts: dict[str, Amounts], dataset: str) -> str:
    for analyst in analysts:
        text = with_share(text, analyst, dataset, None)
    return text


def with_renewal(text: str, catalog: Catalog, dataset: str, day: dt.date) -> str:
    """Return the text after a renewal on `day`, in which the last period granted is its own; or refuse.

    Guarantee: total, shares and the note of the period are one text, which is written whole or not
    at all; so a period is never granted twice, and never half.
    """
    found = catalog.dataset(dataset)
    budget = catalog.budget_of(found)
    policy = budget.renewal
    if policy is None:
        raise CatalogError(
            f"The budget '{budget.name}' does not renew.",
            hint='Declare it in discreet.toml: renew = { every = "quarter", since = "2026-Q4", epsilon = 0.5, at_most = 4 }.',
        )
    period = policy.due(day)
    place = ("datasets" if found.budget == found.name else "budgets", found.budget)
    amounts = {"epsilon": budget.epsilon.value + policy.epsilon.value}
    if policy.delta.value:
        amounts["delta"] = budget.delta.value + policy.delta.value
    renew = as_settings(inside(parsed(text), place)["renew"]) | {
        "granted": (*policy.granted, period)
    }
    text = with_settings(text, place, amounts | {"renew": renew})
    if policy.share is not None:
        for analyst, caps in catalog.analysts.items():
            for name, cap in caps.items():
                if catalog.datasets[name].budget == budget.name:
                    more = {"epsilon": cap.epsilon.value + policy.share.value}
                    if cap.delta != budget.delta:
                        more["delta"] = cap.delta.value
                    text = with_share(text, analyst, name, more)
    return text


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """One table as it stands in the file, whether or not its unit and its budget are filled in."""

    dataset: str
    table: Table
    unit_known: bool
    budget_known: bool

    @property
    def waiting(self) -> tuple[str, ...]:
        """Return the columns that wait for review."""
        return tuple(c.name for c in self.table.columns if not c.reviewed and not c.hidden)


def declared_tables(text: str, *, base: Path, file: str) -> tuple[str, list[DeclaredTable]]:
    """Return the engine's address and every private table of the file, finished or not."""
    shape: FileShape = shape_of(parsed(text), file=file)
    found = []
    for name, dataset in shape.datasets.items():
        budget = dataset.epsilon is not None or dataset.budget is not None
        for table in _private_tables(name, dataset, base):
            known = dataset.tables[table.name].unit is not None
            found.append(DeclaredTable(name, table, known, budget))
    return shape.engine.url, found


def _private_tables(name: str, dataset: DatasetShape, base: Path) -> tuple[Table, ...]:
    """Return the tables as they are read; one without a unit yet counts as rows."""
    shapes = {
        table: settings if settings.unit else settings.model_copy(update={"unit": "row"})
        for table, settings in dataset.tables.items()
        if not settings.public
    }
    tables = [
        table_of(table, settings, place=f"table '{table}' of dataset '{name}'", base=base)
        for table, settings in shapes.items()
    ]
    return one_reading(name, tables, shapes)
