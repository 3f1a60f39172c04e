"""Which version of the data a question reads: a number that says nothing about the data."""

from __future__ import annotations

from discreet.catalog.catalog import engine_name
from discreet.engine.base import Engine, Held
from discreet.kernel.canonical.select import CanonicalRecipe
from discreet.ledger.ledger import Ledger
from discreet.plan.ir import Relation, scans_of


def hold(source: Relation, engine: Engine, ledger: Ledger) -> Held:
    """Return one unchanging state of every table under `source`, to be closed by the caller.

    What the engine stores for it belongs to `ledger` alone.
    """
    recipes = {}
    for scan in scans_of(source):
        assert scan.dataset is not None, "every table belongs to a dataset"
        recipes[engine_name(scan.dataset, scan.table)] = CanonicalRecipe(
            scan.dataset, scan.table, owner=ledger.identity
        )
    return engine.hold(recipes)


def snapshots_of(source: Relation, held: Held, ledger: Ledger) -> dict[str, str]:
    """Return the snapshot number of each private table under `source`.

    The fingerprint of a source depends on its rows, so it stays in the owner's ledger; answers and
    axis names carry only how many different versions were seen so far.

    Guarantee: the number stands for the very rows that `held` reads.
    """
    found: dict[str, str] = {}
    for scan in scans_of(source):
        if scan.dataset is None or scan.public or scan.table.name in found:
            continue
        name = engine_name(scan.dataset, scan.table)
        version = scan.table.version
        print_ = f"declared {version}" if version is not None else held.fingerprints[name]
        found[scan.table.name] = str(ledger.snapshot(name, print_))
    return found


def label(snapshots: dict[str, str]) -> str:
    """Return the versions in one word, such as people:1,visits:2."""
    return ",".join(f"{table}:{number}" for table, number in sorted(snapshots.items()))
