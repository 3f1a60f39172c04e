"""publish(): plan, charge, count, add noise, reconcile, sign, store; in that order."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.base import display
from discreet.base.bill import Charged
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.base.proof import Permit
from discreet.data.engines.base import Held, PaidReader, require_paid
from discreet.errors import AnswerLost, FactsContradict, InvalidInput, RequestConflict
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Receipt
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import excerpt_of
from discreet.work.publish.assemble import (
    MeasuredFamily,
    contents_of,
    exact_facts,
    noisy_tables,
    reconciled,
)
from discreet.work.publish.measure import CellRead, ExactCells, count_cells
from discreet.work.publish.package import OwnerKey, write_package, writing_package
from discreet.work.publish.prepare import PlannedRelease, planned
from discreet.work.publish.rehearse import check_by_rehearsal
from discreet.work.publish.specification import Spec

MARK = b"release "
"""How a stored release begins: it is no answer, and no model."""

PATIENCE = 3600.0
"""Seconds for one read."""


@dataclass(frozen=True, slots=True, repr=False)
class Publication(ShownInLines, Charged):
    """A released package: where it lies, what it holds, what it cost."""

    release: str
    out: Path | None
    tables: dict[str, int]
    seconds: float
    sha256: str
    key: str
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet publish --json` prints."""
        return {
            "release": self.release,
            "out": None if self.out is None else str(self.out),
            "tables": {name: {"rows": rows} for name, rows in self.tables.items()},
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "state": "released",
            "sha256": self.sha256,
            "key": self.key,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.publication_lines(self.to_json())


def publish(
    spec: Spec,
    out: Path | None,
    desk: Desk,
    *,
    store: Path,
    key: OwnerKey,
    progress: Progress = silent,
) -> Publication:
    """Return a release after writing its signed package, charged before any private row is read.

    `store` is the folder where packages are kept: the same name, spec and snapshot again give the
    very same bytes, free.

    Before the charge the whole package is made once from made-up rows (`check_by_rehearsal`).

    Guarantee: one charge pays for everything noisy in the package, as one batch that is fixed by the
        spec and public facts (`price_release`). It is durable before the engine runs, which happens
        once at most for it; the package is signed and durable before anybody hears of it, and is what
        the same release gets again (`once`). Everything after the noise is post-processing. Facts
        from the data are exact and recorded as exposed before they are read.
    """
    started = time.monotonic()
    with planned(spec, desk) as (plan, held):
        if desk.ledger.charge_of(None, request_id(spec)) is None:
            desk.ledger.check_room(plan.payer, plan.priced.quote)
            check_by_rehearsal(plan)
            _check_store(store)
        progress(0, 4, "charging")
        packing = _Packing(plan, held, desk, store, key, progress)
        try:
            receipt, found = paid(
                plan.payer,
                _bill(plan),
                packing.packed,
                held=held,
                ledger=desk.ledger,
            )
        except RequestConflict:
            raise RequestConflict(
                f"'{spec.name}' was released from another state of the data.",
                hint="Give the new release a name of its own; nothing was charged.",
            ) from None
        except AnswerLost:
            raise AnswerLost(
                f"The release '{spec.name}' was paid for and begun, but never ended; the charge "
                "stands, and nothing was published.",
                hint="Rows may have been looked at, so its name is used up: give it another one.",
            ) from None
    stored = unpack(found)
    kept = store / stored["file"]
    if not kept.is_file() or _hash(kept) != stored["sha256"]:
        raise AnswerLost(
            f"The package of '{spec.name}' is no longer what was stored; it was paid for and released."
        )
    if out is not None:
        copy_out(kept, out)
    return Publication(
        release=spec.name,
        out=out,
        tables=stored["tables"],
        bill=receipt.bill,
        seconds=time.monotonic() - started,
        sha256=stored["sha256"],
        key=stored["key"],
        notices=tuple(stored.get("warnings", ())),
    )


def _check_store(store: Path) -> None:
    """Require that the folder of packages can be written to."""
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=store):
            pass
    except OSError as error:
        raise InvalidInput(
            f"Packages cannot be kept in '{store}': {error.strerror}.", hint="Nothing was charged."
        ) from None


def _bill(plan: PlannedRelease) -> Charge:
    return Charge(
        plan.priced.quote,
        request_id(plan.spec),
        plan.body,
        note=f"release {plan.spec.name}",
        snapshot=plan.snapshot,
    )


def request_id(spec: Spec) -> str:
    """Return the id under which a release is charged: its name, so that no name is used twice."""
    return _id_of(spec.name)


def _id_of(name: str) -> str:
    return f"release:{name}"


def released_file(ledger: Ledger, name: str) -> str:
    """Return the name of a released package's file, as the ledger stored it.

    A file alone says nothing: its writer may have been killed before the ledger knew of it.
    """
    stored = ledger.stored_answer(_id_of(name))
    if stored is None:
        raise InvalidInput(
            f"No package was released under the name '{name}'.",
            hint="curator.releases() lists every release and how far it has come.",
        )
    return str(unpack(stored)["file"])


@dataclass(frozen=True, slots=True)
class _Packing:
    """A release that is to be packed once it is paid for: its plan, and where its package goes."""

    plan: PlannedRelease
    held: Held
    desk: Desk
    store: Path
    key: OwnerKey
    progress: Progress

    def packed(self, reader: PaidReader, receipt: Receipt) -> bytes:
        """Return what is stored in the ledger: where the package lies, and its hash."""
        plan, desk, progress = self.plan, self.desk, self.progress
        name = plan.spec.name
        measured = measure(plan, self.held, desk, reader=reader, progress=progress)
        progress(3, 4, "writing the package")
        self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.store / f"{name}.zip"
        contents = contents_of(
            plan,
            measured,
            ledger=excerpt_of(desk.ledger, receipt, name),
            created=receipt.time.isoformat(),
            private=bool(getattr(desk.rng, "private", True)),
        )
        write_package(contents, path, self.key)
        facts = {
            "file": path.name,
            "sha256": _hash(path),
            "tables": {table.name: table.rows.num_rows for table in contents.tables},
            "key": self.key.public.hex(),
            "warnings": list(contents.warnings),
        }
        return MARK + json.dumps(facts).encode()


def unpack(payload: bytes) -> dict[str, Any]:
    """Return what a stored release says."""
    if not payload.startswith(MARK):
        raise InvalidInput("That is no release.")
    found: dict[str, Any] = json.loads(payload[len(MARK) :])
    return found


def measure(
    plan: PlannedRelease, held: Held, desk: Desk, *, reader: PaidReader, progress: Progress
) -> MeasuredFamily:
    """Return noisy and reconciled cells of all tables; after paying."""
    progress(0, 4, "counting")
    everything = range(len(plan.families))
    known = {(f.family, f.place): f.values for f in plan.facts if f.values is not None}
    exact = held.paid(_exposed(plan, desk.ledger)) if plan.facts_from_data else None
    facts = exact_facts(
        plan,
        everything,
        lambda number, read: _counted(plan, number, read, require_paid(exact)),
        published=known,
    )
    noisy = noisy_tables(
        plan,
        everything,
        lambda number, read: _counted(plan, number, read, reader),
        rng=desk.rng,
        progress=progress,
    )
    progress(2, 4, "reconciling")
    try:
        return reconciled(plan, noisy, facts)
    except FactsContradict:
        # Facts from files were compared with rules before the charge; those of the rows could not be.
        raise FactsContradict(
            "The exact facts from the rows contradict a rule or a published fact, so nothing was "
            "released. The charge stands.",
            hint="Correct the rule or the fact, and give the release another name.",
        ) from None
    except InvalidInput as error:
        raise InvalidInput(
            f"{error.message} Nothing was released; the charge stands.", hint=error.hint
        ) from None


def _counted(plan: PlannedRelease, number: int, read: CellRead, reader: PaidReader) -> ExactCells:
    seconds = plan.dataset.seconds
    limit = PATIENCE if seconds is None else float(seconds)
    return count_cells(read, plan.families[number], reader, seconds=limit)


def _exposed(plan: PlannedRelease, ledger: Ledger) -> Permit:
    """Return the permit of facts that leave without noise, once that is written down."""
    table = plan.bound.tables[0].table.name
    columns = {f"{table}.{key.base}" for f in plan.facts_from_data for key in f.member.table.keys}
    return ledger.record_exposure(
        plan.dataset.name,
        reason=f"exact facts in the release {plan.spec.name}: "
        + "; ".join(fact.spec.reason for fact in plan.facts_from_data),
        columns=sorted(columns),
        note="; ".join(f"approved by {fact.spec.approver}" for fact in plan.facts_from_data),
    )


def copy_out(kept: Path, out: Path) -> None:
    """Write a stored package where it was asked for: whole, or not at all."""
    hint = "It is paid for and kept: publish again with another --out, free."
    with writing_package(out, hint=hint) as beside:
        shutil.copyfile(kept, beside)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
