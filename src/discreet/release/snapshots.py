"""Which version of the data a question reads: a number that says nothing about the data."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.catalog.catalog import engine_name
from discreet.catalog.read.overlap import check_still_apart
from discreet.core.schema import Dataset, Table
from discreet.engine.base import Held
from discreet.kernel.canonical.select import CanonicalRecipe
from discreet.ledger.ledger import Ledger
from discreet.plan.ir import Relation, scans_of
from discreet.release.desk import Desk


def hold(source: Relation, desk: Desk) -> Held:
    """Return one unchanging state of every table under `source`, to be closed by the caller."""
    return hold_tables(tables_of(source), desk)


def hold_tables(tables: Sequence[tuple[Dataset, Table]], desk: Desk) -> Held:
    """Return one unchanging state of these tables, to be closed by the caller.

    What the engine stores for it belongs to `ledger` alone. Files that have become another table's
    since the catalog was read are refused.
    """
    recipes = {
        engine_name(dataset, table): CanonicalRecipe(dataset, table, owner=desk.ledger.identity)
        for dataset, table in tables
    }
    held = desk.engine.hold(recipes)
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


def snapshots_of(source: Relation, held: Held, ledger: Ledger) -> dict[str, str]:
    """Return the snapshot number of each table under `source`, public ones among them.

    The fingerprint of a source depends on its rows, so it stays in the owner's ledger; answers and
    axis names carry only how many different versions were seen so far. An answer over a public
    table is no answer any more once that table has changed.

    Guarantee: the number stands for the very rows that `held` reads. Tables of several datasets that have
        the same name have the numbers of all of them: when one changes, nothing of before stands.
    """
    found: dict[str, str] = {}
    for dataset, table in sorted(tables_of(source), key=lambda each: engine_name(*each)):
        name, version = engine_name(dataset, table), table.version
        print_ = f"declared {version}" if version is not None else held.fingerprints[name]
        number = str(ledger.snapshot(name, print_))
        found[table.name] = f"{found[table.name]}+{number}" if table.name in found else number
    return found


def label(snapshots: dict[str, str]) -> str:
    """Return the versions in one word, such as people:1,visits:2."""
    return ",".join(f"{table}:{number}" for table, number in sorted(snapshots.items()))
