"""Names of columns: the aliases in sight, and how large what they stand for gets when it is written out.

A name costs nothing to write, and stands for everything below it: sixty subqueries that each say
`a + a` are a text of one page and a tree of 2^60 nodes. So sizes are counted while a statement is bound, before
it is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.ir import Field, Relation, fields_of
from discreet.ask.sql.refuse import refusal, too_large
from discreet.base.schema import Domain, Table
from discreet.data.catalog.catalog import Catalog
from discreet.errors import UnknownName

MOST_FIELDS = 10_000
"""Columns of all tables and subqueries of one statement together."""

MOST_TOTAL = 5 * e.MOST_NODES


@dataclass(slots=True)
class Sizes:
    """Gives each field its id, and knows how many nodes stand behind it.

    Guarantee: an expression of more than `MOST_NODES` nodes as a tree, or a statement of more than
        `MOST_TOTAL`, is refused before any expression is built over it.
    """

    known: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def fresh(self, value: Expr | None = None, *, times: int = 1) -> str:
        """Return an id that no other field of the statement has, for the field that is `value`."""
        if len(self.known) >= MOST_FIELDS:
            raise refusal("too large", what=f"The question reads more than {MOST_FIELDS:,} columns")
        name = f"f{len(self.known)}"
        self.known[name] = times if value is None else self.add(value) * times
        return name

    def add(self, value: Expr) -> int:
        """Return the size of one more expression of the statement, or refuse it."""
        found = self.check(value)
        self.total += found
        if self.total > MOST_TOTAL:
            raise too_large()
        return found

    def check(self, value: Expr) -> int:
        """Return the size of an expression as a tree, or refuse it."""
        found = e.size(value, self.known)
        if found > e.MOST_NODES:
            raise too_large()
        return found


@dataclass(frozen=True, slots=True)
class Named:
    """A relation under an alias, and its columns: (lower-case name, id of the field), in order.

    Several columns may have one name, as in `SELECT * FROM a JOIN b`; then that name means none.
    """

    alias: str
    relation: Relation
    columns: tuple[tuple[str, str], ...]
    table: Table | None = None

    def ids(self, name: str) -> tuple[str, ...]:
        """Return the fields that go by a lower-case name."""
        return tuple(field for known, field in self.columns if known == name)


@dataclass(frozen=True, slots=True)
class Names:
    """All aliases that a SELECT sees."""

    catalog: Catalog
    entries: tuple[Named, ...]
    sizes: Sizes
    merged: tuple[str, ...] = ()

    def find(self, column: exp.Column) -> e.ColumnRef:
        """Return the field that a written column means, or say why there is none."""
        name, alias = column.name.lower(), column.table.lower()
        seen = [entry for entry in self.entries if alias in {"", entry.alias.lower()}]
        if column.db:
            seen = [entry for entry in seen if self._of_dataset(entry, column.db)]
        found = [(entry, field) for entry in seen for field in entry.ids(name)]
        if len(found) == 1 or (found and not alias and name in self.merged):
            return e.ColumnRef(found[0][1])
        if found:
            raise _ambiguous(column.name, [entry.alias for entry, _ in found])
        raise self._unknown(column)

    def _of_dataset(self, entry: Named, name: str) -> bool:
        """Return whether an entry is a table of the dataset called `name`, under its own name."""
        table = entry.table
        if table is None or entry.alias.lower() != table.name.lower():
            return False
        return self.catalog.dataset_of(table).name.lower() == name.lower()

    def has(self, name: str) -> bool:
        """Return whether any column goes by a lower-case name."""
        return any(entry.ids(name) for entry in self.entries)

    def joined(self, entry: Named, *, merged: Sequence[str] = ()) -> Names:
        """Return these names and those of one more table, whose alias must be its own.

        `merged`: columns of USING, which mean the left side's where no table is named.
        """
        alias = entry.alias.lower()
        if alias and any(known.alias.lower() == alias for known in self.entries):
            raise UnknownName(
                f"Two tables are called '{entry.alias}' in this question.",
                hint="Give one of them another alias.",
            )
        merged = tuple(dict.fromkeys((*self.merged, *(name.lower() for name in merged))))
        return replace(self, entries=(*self.entries, entry), merged=merged)

    def _unknown(self, column: exp.Column) -> Exception:
        alias = column.table.lower()
        seen = [entry for entry in self.entries if alias in {"", entry.alias.lower()}]
        for entry in seen:
            if entry.table is not None and _waits(entry.table, column.name):
                # The catalog knows the right sentence. Of what is hidden nobody learns the name.
                self.catalog.column(entry.table, column.name)
        if alias and not seen:
            return UnknownName(f"There is no table or alias '{column.table}' in this question.")
        known = ", ".join(
            list(dict.fromkeys(name for entry in seen for name, _ in entry.columns))[:12]
        )
        return UnknownName(f"There is no column '{column.name}'.", hint=f"There are: {known}.")

    def fields(self) -> dict[str, Field]:
        """Return every field in sight by its id."""
        return {field.name: field for entry in self.entries for field in fields_of(entry.relation)}

    def domains(self) -> dict[str, Domain]:
        """Return what every field in sight can hold, by its id."""
        return {name: field.domain for name, field in self.fields().items()}


def written_name(output: exp.Expr) -> str:
    """Return what a column of a subquery is called, or refuse one that nothing could name."""
    name = output.alias if isinstance(output, exp.Alias) else ""
    name = output.name if isinstance(output, exp.Column) else name
    if not name:
        raise refusal("clause", what="A column without a name in a subquery")
    return name


def grouped_by(node: exp.Expr, select: exp.Select, names: Names) -> exp.Expr:
    """Return what GROUP BY means: an output by its place or its name, where no column has that."""
    outputs: list[exp.Expr] = list(select.expressions)
    if isinstance(node, exp.Literal) and not node.is_string:
        place = place_of(node)
        if not 0 <= place < len(outputs):
            raise refusal("clause", what=f"GROUP BY {str(node.this)[:40]}")
        return outputs[place].unalias()
    if isinstance(node, exp.Column) and not node.table and not names.has(node.name.lower()):
        for output in outputs:
            if isinstance(output, exp.Alias) and output.alias.lower() == node.name.lower():
                return output.unalias()
    return node


def place_of(node: exp.Literal) -> int:
    """Return the place among the outputs that a bare number means, -1 if it means none."""
    return int(node.this) - 1 if str(node.this).isdigit() else -1


def _ambiguous(name: str, aliases: list[str]) -> UnknownName:
    if len(set(aliases)) < len(aliases):
        return UnknownName(
            f"Two columns of one table are called '{name}'.",
            hint="List the columns in the subquery, and give each a name of its own.",
        )
    return UnknownName(
        f"Column '{name}' is in several tables.",
        hint=f"Write {' or '.join(f'{alias}.{name}' for alias in aliases)}.",
    )


def _waits(table: Table, name: str) -> bool:
    return any(
        column.name.lower() == name.lower() and not column.hidden for column in table.columns
    )
