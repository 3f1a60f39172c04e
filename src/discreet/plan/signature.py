"""A text that two forms of the same question share, and no two different questions."""

from __future__ import annotations

import hashlib

from discreet.plan.ir import Field, Filter, Join, PerUnit, Project, Relation, Scan, Statement
from discreet.plan.largest_group import is_top


def signature(statement: Statement) -> str:
    """Return a short name of what a statement measures: of which rows, by which keys.

    What is done with the noisy numbers (aliases, order, HAVING, LIMIT, arithmetic) is not part of it;
    whether only the largest group is asked for is, since that is another mechanism.
    """
    said = [
        _relation(statement.source),
        repr(sorted(repr((key.value, key.domain, key.missing)) for key in statement.keys)),
        repr(sorted({repr(aggregate) for _, aggregate in statement.aggregates})),
        repr(is_top(statement)),
        repr(statement.max_rows),
    ]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:32]


def _relation(relation: Relation) -> str:
    match relation:
        case Scan(dataset=dataset, table=table, fields=fields, max_rows=max_rows):
            columns = [(c.name, c.fingerprint) for c in table.columns]
            where = dataset.name if dataset is not None else ""
            # Over another path the same rows are other people's.
            whose = "" if table.path is None else f" {table.path!r}"
            read = f"{_ids(fields)} {columns} {max_rows} {table.bounded}{whose}"
            return f"scan {where}.{table.name} {read}"
        case Filter(source=source, condition=condition):
            return f"{_relation(source)}\nfilter {condition!r}"
        case Project(source=source, fields=fields, values=values):
            return f"{_relation(source)}\nproject {_ids(fields)} {values!r}"
        case Join(left=left, right=right, pairs=pairs, kind=kind, copies=copies):
            sides = f"{_relation(left)}\nwith {_relation(right)}"
            return f"{sides}\njoin {pairs!r} {kind.value} {copies}"
        case PerUnit(source=source, fields=fields, aggregates=aggregates, keys=keys):
            cut = f" of {relation.most} rows" if relation.cut else ""
            return f"{_relation(source)}\nper unit {_ids(fields)} {aggregates!r} {keys!r}{cut}"


def _ids(fields: tuple[Field, ...]) -> list[str]:
    """Return the ids alone: they are counted in the order of binding, whatever people wrote."""
    return [field.name for field in fields]
