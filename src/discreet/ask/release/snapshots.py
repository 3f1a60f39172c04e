"""Which version of the data a question reads: a number that says nothing about the data.

Versions begin at times that everybody may know, or, where the owner chose so, whenever rows change.
Their numbers only grow: rows that come back are a new version (docs/notes/0102-versions.md).
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from discreet.ask.plan.ir import Relation, scans_of
from discreet.ask.release.desk import Desk
from discreet.base.schema import Dataset, Refresh, Table
from discreet.data.catalog.axes import LIVE
from discreet.data.catalog.catalog import engine_name
from discreet.data.catalog.overlap import check_still_apart
from discreet.data.engines.base import Held, StateLost
from discreet.data.engines.connect import kind_of
from discreet.errors import CatalogError, EngineFailed, InternalError, UnknownName
from discreet.privacy.kernel.canonical import CanonicalRecipe
from discreet.privacy.ledger.accounts import DataVersion, NewVersion

_DECLARED = "declared "
_TRIES = 20
"""How often versions are looked for again that others began meanwhile."""


def now() -> dt.datetime:
    """Return the time by which periods begin."""
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True)
class Group:
    """Tables that have their versions together, as they are declared, by the engine's names.

    All tables of a dataset whose units are rows are one group: a row may move from one to another, and
    within a version it stands in one. Every other table is a group by itself.
    """

    name: str
    dataset: Dataset
    tables: Mapping[str, Table]
    engine_url: str

    @property
    def refresh(self) -> Refresh:
        """Return when versions begin; of public tables at any change, which tells of nobody."""
        private = any(not table.public for table in self.tables.values())
        return self.dataset.refresh if private else Refresh.ON_CHANGE

    @property
    def declared(self) -> dict[str, str]:
        """Return for each table a hash of all that is declared and decides what is stored and answered.

        Guarantee: as long as it is the same, the same source is read in the same way, and stored rows are
            found again by what is declared now. So whether they are found tells nothing of rows: only a
            folder that was removed loses them.
        """
        return {name: self._declared_of(table) for name, table in self.tables.items()}

    def _declared_of(self, table: Table) -> str:
        recipe = CanonicalRecipe(self.dataset, table)
        # Where a copy is stored, people are integers in it if they are so in all of their tables.
        beside = recipe.people_declared if table.copied else ""
        kind = kind_of(self.engine_url)
        read = [table, *_on_the_way(self.dataset, table)]
        places = [(each.declaration, kind.address(self.engine_url, each.source)) for each in read]
        said = repr((kind.dialect.name, places, recipe.declared, beside))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _on_the_way(dataset: Dataset, table: Table) -> list[Table]:
    """Return the tables over which a table reaches its people, as they are declared."""
    if table.path is None:
        return []
    by_name = {each.name.lower(): each.stands_for or each for each in dataset.tables}
    return [by_name[step.table.lower()] for step in table.path.steps]


def group_of(dataset: Dataset, table: Table, engine_url: str) -> Group:
    """Return the group of a table as it is declared."""
    if table.unit is not None and table.unit.is_row:
        rows = [each for each in dataset.tables if each.unit is not None and each.unit.is_row]
        if len(rows) > 1:
            found = {engine_name(dataset, each): each.stands_for or each for each in rows}
            return Group(f"{dataset.name}.*", dataset, found, engine_url)
    name = engine_name(dataset, table)
    return Group(name, dataset, {name: table}, engine_url)


def stores(desk: Desk, table: Table) -> bool:
    """Return whether the rows of a version of this table can be read as long as it lasts."""
    kept = table.copied or table.version is not None
    return kept or kind_of(desk.catalog.engine_url).stores


def hold(source: Relation, desk: Desk) -> Held:
    """Return one unchanging state of every table under `source`, to be closed by the caller."""
    return hold_tables(tables_of(source), desk)


def hold_tables(tables: Sequence[tuple[Dataset, Table]], desk: Desk) -> Held:
    """Return one unchanging state of these tables, to be closed by the caller.

    What the engine stores for it belongs to the ledger alone. Files that have become another table's
    since the catalog was read are refused.

    Guarantee: `versions` of what is returned names the rows that are read. When a version begins
        follows from public facts alone (the clock, the owner's word, declarations, what was asked
        before) unless the owner chose `on-change`, or stored rows were lost.
    """
    held = _Hold(tables, desk).held()
    try:
        check_still_apart(desk.catalog, tables)
    except BaseException:
        held.close()
        raise
    return held


def tables_of(source: Relation) -> list[tuple[Dataset, Table]]:
    """Return every table under `source` with its dataset, each once."""
    found: dict[str, tuple[Dataset, Table]] = {}
    for scan in scans_of(source):
        assert scan.dataset is not None, "every table belongs to a dataset"
        found[engine_name(scan.dataset, scan.table)] = scan.dataset, scan.table
    return list(found.values())


def snapshots_of(source: Relation, held: Held) -> dict[str, str]:
    """Return the version of each table under `source`, public ones among them.

    An answer over a public table is no answer any more once that table has changed.

    Guarantee: it stands for the very rows that `held` reads. Tables of several datasets that have
        the same name have the numbers of all of them: when one changes, nothing of before stands.
    """
    found: dict[str, str] = {}
    for dataset, table in sorted(tables_of(source), key=lambda each: engine_name(*each)):
        number = held.versions[engine_name(dataset, table)]
        found[table.name] = f"{found[table.name]}+{number}" if table.name in found else number
    return found


def label(snapshots: Mapping[str, str]) -> str:
    """Return the versions in one word, such as people:1,visits:2."""
    return ",".join(f"{table}:{number}" for table, number in sorted(snapshots.items()))


class _Hold:
    """Finds the version of each group of some tables, begins those that are due, and holds them."""

    def __init__(
        self,
        tables: Sequence[tuple[Dataset, Table]],
        desk: Desk,
        *,
        due: Mapping[str, str] | None = None,
    ) -> None:
        self._desk = desk
        self._asked = {engine_name(*each): each for each in tables}
        self._groups: dict[str, Group] = {}
        self._group_of: dict[str, str] = {}
        for name, (dataset, table) in self._asked.items():
            group = group_of(*_declared(desk, dataset, table), desk.catalog.engine_url)
            self._groups[group.name] = group
            self._group_of[name] = group.name
        self._due = dict(due or {})
        """Why versions of groups must begin now, whatever their last ones say."""

    def held(self) -> Held:
        """Return the tables held, each under its version."""
        for _ in range(_TRIES):
            known = {name: self._desk.ledger.version(name) for name in self._groups}
            due = {
                name: why
                for name, group in self._groups.items()
                if (why := self._due.get(name) or self._why(group, known[name])) is not None
            }
            if due:
                self._begin(due, known)
                continue
            found = self._of(known)
            if found is not None:
                return found
        raise CatalogError(
            "The data changes while it is read.",
            hint='Let questions read newer rows less often: refresh = "daily" in discreet.toml.',
        )

    def _why(self, group: Group, last: DataVersion | None) -> str | None:
        """Return why a new version is due, as far as public facts tell."""
        if last is None:
            return "first"
        if dict(last.declared) != group.declared:
            return "declaration"
        if last.period != group.refresh.period(now()):
            return "period"
        asked = [name for name, of in self._group_of.items() if of == group.name]
        # What could not be read when the version began is read for the first time.
        return None if set(asked) <= set(last.prints) else "first"

    def _of(self, known: Mapping[str, DataVersion | None], *, exactly: bool = False) -> Held | None:
        """Return the tables held in these versions; None where newer ones are due after all.

        `exactly`: rows are compared, not what the engine believes to have changed, which may lag behind.
        """
        stored, live = {}, set()
        for name, (dataset, table) in self._asked.items():
            group = self._groups[self._group_of[name]]
            declared = _declared(self._desk, dataset, table)[1]
            if group.refresh is Refresh.ON_CHANGE and declared.version is None:
                continue
            if stores(self._desk, declared):
                stored[name] = _last(known, group).prints[name]
            else:
                live.add(name)
        try:
            recipes = self._recipes(self._asked)
            held = self._desk.engine.hold(recipes, stored=stored, together=exactly)
        except StateLost as lost:
            self._due |= {self._group_of[name]: "lost" for name in lost.tables}
            return None
        try:
            changed = {
                self._group_of[name]: "change"
                for name in self._asked
                if name not in stored
                and name not in live
                and held.fingerprints[name] != _last(known, self._of_table(name)).prints[name]
            }
        except BaseException:
            held.close()
            raise
        if changed:
            held.close()
            if not exactly:
                return self._of(known, exactly=True)
            self._due |= changed
            return None
        held.versions = {
            name: f"{LIVE if name in live else ''}{_last(known, self._of_table(name)).number}"
            for name in self._asked
        }
        return held

    def _of_table(self, name: str) -> Group:
        return self._groups[self._group_of[name]]

    def _begin(self, due: Mapping[str, str], known: Mapping[str, DataVersion | None]) -> None:
        """Begin the versions that are due, each of one state of all tables of its group."""
        for name, why in due.items():
            group = self._groups[name]
            prints = self._prints(group)
            new = NewVersion(name, prints, group.declared, group.refresh.period(now()), why)
            self._desk.ledger.begin_version(new, after=known[name])
            self._due.pop(name, None)  # begun by us or, just now, by somebody else

    def _prints(self, group: Group) -> dict[str, str]:
        """Return the fingerprints of a group's tables at one moment, without those beyond reading.

        What was asked must be readable; a table beside it need not be.
        """
        tables = {name: (group.dataset, table) for name, table in group.tables.items()}
        asked = [name for name in tables if self._group_of.get(name) == group.name]
        while True:
            try:
                return self._prints_of(group, tables)
            except (CatalogError, EngineFailed, UnknownName):
                if len(tables) == len(asked):
                    raise
            for name in [name for name in tables if name not in asked]:
                try:
                    self._prints_of(group, {name: tables[name]})
                except (CatalogError, EngineFailed, UnknownName):
                    del tables[name]
                    break
            else:
                tables = {name: tables[name] for name in asked}

    def _prints_of(
        self, group: Group, tables: Mapping[str, tuple[Dataset, Table]]
    ) -> dict[str, str]:
        with self._desk.engine.hold(self._recipes(tables), together=True) as held:
            return {name: self._print(group, name, held) for name in tables}

    def _print(self, group: Group, name: str, held: Held) -> str:
        """Return what tells the rows of a version from others; empty where they may change meanwhile."""
        table = group.tables[name]
        if kind_of(self._desk.catalog.engine_url).stores or table.copied:
            return held.fingerprints[name]
        if table.version is not None:  # not looked at: the owner's word is there to spare that
            return f"{_DECLARED}{table.version}"
        return held.fingerprints[name] if group.refresh is Refresh.ON_CHANGE else ""

    def _recipes(self, tables: Mapping[str, tuple[Dataset, Table]]) -> dict[str, CanonicalRecipe]:
        owner = self._desk.ledger.identity
        found = {}
        for name, (dataset, table) in tables.items():
            declared = _declared(self._desk, dataset, table)[1]
            if declared.bounded and not table.bounded:
                # What is stored for the declared bound has all rows, so it is read, too.
                table = replace(table, bounded=True, max_rows=declared.max_rows)  # noqa: PLW2901
            found[name] = CanonicalRecipe(dataset, table, owner=owner)
        return found


def _declared(desk: Desk, dataset: Dataset, table: Table) -> tuple[Dataset, Table]:
    """Return a table as the owner declared it, whatever a question reads it as."""
    with suppress(UnknownName):
        dataset = desk.catalog.dataset(dataset.name)
        table = desk.catalog.table(table.name, dataset.name)
    return dataset, table.stands_for or table


def _last(known: Mapping[str, DataVersion | None], group: Group) -> DataVersion:
    found = known[group.name]
    if found is None:
        raise InternalError("A version is begun before it is read.")
    return found


def _all_groups(desk: Desk, dataset: Dataset) -> dict[str, Group]:
    """Return the groups of a dataset's private tables."""
    found: dict[str, Group] = {}
    for table in dataset.tables:
        if not table.public:
            group = group_of(*_declared(desk, dataset, table), desk.catalog.engine_url)
            found[group.name] = group
    return found


def begin_versions(desk: Desk, dataset: Dataset, tables: Collection[str] = ()) -> list[DataVersion]:
    """Begin new versions of some tables of a dataset (none named: of all) by the owner's word.

    Tables that have their versions together begin them together.
    """
    for name in tables:
        desk.catalog.table(name, dataset.name)
    wanted = {f"{dataset.name}.{desk.catalog.table(name, dataset.name).name}" for name in tables}
    found = []
    for name, group in _all_groups(desk, dataset).items():
        if wanted and not wanted & set(group.tables):
            continue
        each = [(dataset, table) for table in group.tables.values()]
        _Hold(each, desk, due={name: "owner"}).held().close()
        version = desk.ledger.version(name)
        assert version is not None, "it has just begun"
        found.append(version)
    return found


def versions_report(desk: Desk, dataset: Dataset) -> list[dict[str, Any]]:
    """Return for the owner which version questions read of each group of tables, and what it lacks.

    `changed` names the tables whose rows are others by now; None where they are read live.
    """
    found = []
    for name, group in _all_groups(desk, dataset).items():
        version = desk.ledger.version(name)
        kept = [table for table, each in group.tables.items() if stores(desk, each)]
        kept = [
            t for t in kept if group.refresh is not Refresh.ON_CHANGE or group.tables[t].version
        ]
        changed = None
        if version is not None and kept:
            changed = [t for t in kept if _is_stale(desk, t, version)]
        found.append(
            {
                "dataset": dataset.name,
                "group": name,
                "tables": [table.name for table in group.tables.values()],
                "refresh": group.refresh.value,
                "version": None if version is None else version.number,
                "began": None if version is None else version.began,
                "why": None if version is None else version.why,
                "kept": len(kept) == len(group.tables),
                "changed": None
                if changed is None
                else [group.tables[table].name for table in changed],
            }
        )
    return found


def stale_words(desk: Desk) -> list[str]:
    """Return for the owner a sentence for each table whose rows are others than those that are read.

    Of files, which are looked at quickly; a whole database would be read for it.
    """
    found: list[str] = []
    if not kind_of(desk.catalog.engine_url).stores:
        return found
    for dataset in desk.catalog.datasets.values():
        for each in versions_report(desk, dataset):
            for table in each["changed"] or ():
                declared = desk.catalog.table(table, dataset.name).version
                then = (
                    f"discreet refresh {dataset.name}"
                    if declared is None
                    else f'change version = "{declared}" in discreet.toml'
                )
                found.append(
                    f"the rows of '{table}' of dataset '{dataset.name}' have changed since version "
                    f"{each['version']}, which questions read; for a new one: {then}."
                )
    return found


def _is_stale(desk: Desk, name: str, version: DataVersion) -> bool:
    """Return whether the rows of a table are others than when the version began; False where unknown."""
    print_ = version.prints.get(name, "")
    if not print_ or print_.startswith((_DECLARED, "copied ")):
        return False
    with suppress(CatalogError, EngineFailed, UnknownName):
        return desk.engine.changed(name, print_)
    return False
