"""Which column a name means: the aliases in sight, each with its columns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.core.schema import IdentifierDomain, Table, TextDomain
from discreet.errors import UnknownName
from discreet.plan import expr as e
from discreet.plan.ir import Field, Relation, fields_of
from discreet.sql.refuse import refusal


@dataclass(frozen=True, slots=True)
class Named:
    """A relation under an alias; `columns` maps lower-case names to field names."""

    alias: str
    relation: Relation
    columns: dict[str, str]
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """All aliases that a SELECT sees."""

    catalog: Catalog
    entries: tuple[Named, ...]

    def find(self, column: exp.Column) -> e.ColumnRef:
        """Return the field that a written column means, or say why there is none."""
        name, alias = column.name.lower(), column.table.lower()
        found = [
            entry
            for entry in self.entries
            if name in entry.columns and alias in {"", entry.alias.lower()}
        ]
        if len(found) == 1:
            return e.ColumnRef(found[0].columns[name])
        if found:
            raise UnknownName(
                f"Column '{column.name}' is in several tables.",
                hint=f"Write {' or '.join(f'{entry.alias}.{column.name}' for entry in found)}.",
            )
        raise self._unknown(column)

    def _unknown(self, column: exp.Column) -> Exception:
        alias = column.table.lower()
        seen = [entry for entry in self.entries if alias in {"", entry.alias.lower()}]
        for entry in seen:
            if entry.table is not None and _declared(entry.table, column.name):
                # Hidden or waiting for review: the catalog knows the right sentence.
                self.catalog.column(entry.table, column.name)
        if alias and not seen:
            return UnknownName(f"There is no table or alias '{column.table}' in this question.")
        known = ", ".join(
            list(dict.fromkeys(name for entry in seen for name in entry.columns))[:12]
        )
        return UnknownName(f"There is no column '{column.name}'.", hint=f"There are: {known}.")

    def fields(self) -> dict[str, Field]:
        """Return every field in sight by its name."""
        return {field.name: field for entry in self.entries for field in fields_of(entry.relation)}


def readable(field: Field, written: str) -> None:
    """Refuse to read a column that only identifies."""
    if isinstance(field.domain, IdentifierDomain | TextDomain):
        raise refusal("identifier", what=written)


def _declared(table: Table, name: str) -> bool:
    return any(column.name.lower() == name.lower() for column in table.columns)
