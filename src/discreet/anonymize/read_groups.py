"""From a table of any engine to groups: one GROUP BY, the heavy part, on the engine."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.anonymize.groups import Groups, group_table
from discreet.catalog.propose.profile import PATIENCE
from discreet.engine.base import Engine, open_exact
from discreet.engine.names import quoted
from discreet.errors import InvalidInput


def read_groups(
    engine: Engine,
    table: str,
    quasi: Sequence[str],
    *,
    sensitive: str | None = None,
    condition: str = "",
    seconds: float = PATIENCE,
) -> Groups:
    """Return the groups of an attached table; `condition` is SQL of ours that rows must satisfy."""
    known = [name for name, _ in engine.columns(table)]
    wanted = [*quasi, *([] if sensitive is None else [sensitive])]
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"There is no column '{name}'.", hint=f"The columns are: {', '.join(known)}."
            )
    if not quasi:
        raise InvalidInput("No quasi-identifier was named.", hint="Name at least one column.")
    count = "n"
    while count in {name.lower() for name in wanted}:
        count += "n"
    dialect = engine.capabilities.dialect
    cells = ", ".join(quoted(name, dialect) for name in dict.fromkeys(wanted))
    where = f" WHERE {condition}" if condition else ""
    rows = f"{engine.relation(table)} AS f{where}"
    sql = f"SELECT {cells}, COUNT(*) AS {count} FROM {rows} GROUP BY {cells}"
    found = open_exact(engine.run(sql, seconds=seconds))
    return group_table(found, quasi, sensitive=sensitive, count=count)
