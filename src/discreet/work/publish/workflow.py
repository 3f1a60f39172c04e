"""The way of a release: draft, rehearsed, approved, released, then superseded or withdrawn.

Every change of state is a line of the ledger's history. Nothing is charged before approval, and what
was released stays paid for whatever becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from discreet.ask.release.desk import Desk
from discreet.base.display import Progress, silent
from discreet.errors import InvalidInput, NotAllowed, RequestConflict
from discreet.privacy.ledger.entry import Entry
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import record_state, states_of
from discreet.work.publish.bound_tables import check_column_names
from discreet.work.publish.package import owner_key
from discreet.work.publish.prepare import PlannedRelease, planned
from discreet.work.publish.rehearse import Rehearsal, rehearse
from discreet.work.publish.run import Publication, publish
from discreet.work.publish.specification import Spec

OWNER = "owner"
RELEASES = "releases"
"""The folder inside the state folder where signed packages are kept."""


class ReleaseState(Enum):
    """How far a release has come."""

    DRAFT = "draft"
    REHEARSED = "rehearsed"
    APPROVED = "approved"
    RELEASED = "released"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


T = TypeVar("T")
ENDED = frozenset({ReleaseState.RELEASED, ReleaseState.SUPERSEDED, ReleaseState.WITHDRAWN})


@dataclass(frozen=True, slots=True)
class ReleaseStatus:
    """Where a release stands: its state, its spec's digest, who drafted and who approved it."""

    name: str
    state: ReleaseState | None = None
    digest: str = ""
    drafter: str = ""
    approver: str = ""
    note: str = ""
    time: str = ""
    dataset: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain texts, for commands and pages."""
        return {
            "release": self.name,
            "state": None if self.state is None else self.state.value,
            "drafted_by": self.drafter,
            "approved_by": self.approver,
            "note": self.note,
            "time": self.time,
        }


def status_of(ledger: Ledger, name: str) -> ReleaseStatus:
    """Return where a release of this name stands, from the ledger's history alone."""
    found = ReleaseStatus(name)
    for entry in states_of(ledger, name):
        found = _after(found, entry)
    return found


def standings(ledger: Ledger) -> list[ReleaseStatus]:
    """Return every release that was ever drafted, latest change last."""
    found: dict[str, ReleaseStatus] = {}
    for entry in states_of(ledger):
        name = entry.data["release"]
        changed = _after(found.pop(name, ReleaseStatus(name)), entry)
        found[name] = changed
    return list(found.values())


def _after(before: ReleaseStatus, entry: Entry) -> ReleaseStatus:
    data = entry.data
    state = ReleaseState(data["state"])
    fresh = state is ReleaseState.DRAFT
    drafter = data["who"] if fresh else before.drafter
    approver = "" if fresh else before.approver
    if state is ReleaseState.APPROVED:
        approver = data["who"]
    if state is ReleaseState.REHEARSED and before.state is ReleaseState.APPROVED:
        state = ReleaseState.APPROVED  # rehearsing again takes nothing back
    said = data["note"], entry.time, data["dataset"]
    return ReleaseStatus(before.name, state, data["digest"], drafter, approver, *said)


def _record(
    desk: Desk, release: Spec | ReleaseStatus, state: ReleaseState, who: str, note: str = ""
) -> None:
    """Write down a change of state."""
    record_state(
        desk.ledger,
        dataset=release.dataset,
        release=release.name,
        state=state.value,
        who=who,
        digest=release.digest,
        note=note,
    )


def _needs_second(desk: Desk, spec: Spec) -> bool:
    """Return whether the catalog asks for a second person."""
    return desk.catalog.dataset(spec.dataset).second_person


def draft_release(spec: Spec, desk: Desk, *, who: str = OWNER) -> ReleaseStatus:
    """Return where a release stands after its draft was written down; a bad spec leaves no trace."""
    return _drafted(spec, desk, who, lambda _plan: None)[0]


def rehearse_release(spec: Spec, desk: Desk, *, who: str = OWNER) -> Rehearsal:
    """Return what a release would look like, on made-up rows: costs nothing, reads no private row."""
    standing, found = _drafted(spec, desk, who, rehearse)
    if standing.state not in ENDED:
        _record(desk, spec, ReleaseState.REHEARSED, who)
    return found


def approve_release(
    spec: Spec, desk: Desk, *, who: str, digest: str | None = None
) -> ReleaseStatus:
    """Return where a release stands after somebody approved it.

    Where the catalog asks for a second person, that is somebody else than who drafted it, and
    `digest` says which draft they have read: spec and files may have been changed since.

    Guarantee: who names a digest touches no table. The draft was planned when it was written, and is
        planned again before it is paid for; a plan would begin a version where rows have changed
        under `on-change`, which is not for reviewers to try out.
    """
    _check_read(spec, digest, needed=_needs_second(desk, spec))
    if digest is None:
        standing, _ = _drafted(spec, desk, who, lambda _plan: None)
    else:
        standing = _draft_that_was_read(spec, desk)
    if standing.state in ENDED:
        raise InvalidInput(f"'{spec.name}' is {_word(standing)} already.")
    if _needs_second(desk, spec) and standing.drafter == who:
        raise NotAllowed(
            f"'{spec.name}' was drafted by {who}: a second person must approve it.",
            hint="Let somebody else run: discreet publish SPEC --approve --as NAME --digest DIGEST",
        )
    _record(desk, spec, ReleaseState.APPROVED, who)
    return status_of(desk.ledger, spec.name)


def _draft_that_was_read(spec: Spec, desk: Desk) -> ReleaseStatus:
    found = status_of(desk.ledger, spec.name)
    _check_name(spec, found)
    if found.state is None or found.digest != spec.digest:
        raise InvalidInput(
            f"There is no draft of '{spec.name}' with this spec to approve.",
            hint="Let its author run: discreet publish SPEC --as NAME",
        )
    return found


def _check_name(spec: Spec, standing: ReleaseStatus) -> None:
    """Refuse a name that a package of another spec has."""
    if standing.state in ENDED and standing.digest != spec.digest:
        raise InvalidInput(
            f"The name '{spec.name}' is taken by a package of another spec.",
            hint="Give this release a name of its own; nothing was charged.",
        )


def _check_read(spec: Spec, digest: str | None, *, needed: bool) -> None:
    if digest is None and needed:
        raise InvalidInput(
            f"Say which draft of '{spec.name}' you have read: an approval names its digest.",
            hint=f"For this spec, and its files as they are now: --digest {spec.digest}",
        )
    if digest is not None and digest != spec.digest:
        raise RequestConflict(
            f"The draft of '{spec.name}' has changed since it was read.",
            hint="Read it again, its files too, before approving it.",
        )


def release(
    spec: Spec,
    out: Path | None,
    desk: Desk,
    *,
    who: str = OWNER,
    supersedes: str | None = None,
    progress: Progress = silent,
) -> Publication:
    """Return the released package; drafted and approved in one step where no second person is asked.

    Guarantee: nothing is charged unless the history has an approval of this very spec.
    """
    old = None if supersedes is None else _released(desk, supersedes)
    standing, _ = _drafted(spec, desk, who, lambda _plan: None)
    if standing.state is ReleaseState.WITHDRAWN:
        raise InvalidInput(f"'{spec.name}' was withdrawn: {standing.note or 'no reason given'}.")
    if standing.state not in ENDED and not standing.approver:
        if _needs_second(desk, spec):
            raise NotAllowed(
                f"'{spec.name}' is a draft by {standing.drafter} and waits for a second person.",
                hint="Nothing was charged. Approve it: discreet publish SPEC --approve --as NAME --digest DIGEST",
            )
        _record(desk, spec, ReleaseState.APPROVED, who)
    found = publish(
        spec,
        out,
        desk,
        store=desk.catalog.state_folder / RELEASES,
        key=owner_key(desk.catalog.state_folder),
        progress=progress,
    )
    if standing.state not in ENDED:
        _record(desk, spec, ReleaseState.RELEASED, who, note=found.sha256)
        if old is not None:
            _record(desk, old, ReleaseState.SUPERSEDED, who, f"by {spec.name}")
    return found


def withdraw_release(name: str, desk: Desk, *, who: str = OWNER, reason: str) -> ReleaseStatus:
    """Return where a release stands after it was withdrawn: the charge stands, the name stays taken."""
    _record(desk, _released(desk, name), ReleaseState.WITHDRAWN, who, reason)
    return status_of(desk.ledger, name)


def _released(desk: Desk, name: str) -> ReleaseStatus:
    found = status_of(desk.ledger, name)
    if found.state is not ReleaseState.RELEASED:
        raise InvalidInput(
            f"'{name}' is {_word(found)}: only a released package can be superseded or withdrawn."
        )
    return found


def _word(standing: ReleaseStatus) -> str:
    return "unknown" if standing.state is None else standing.state.value


def _drafted(
    spec: Spec, desk: Desk, who: str, use: Callable[[PlannedRelease], T]
) -> tuple[ReleaseStatus, T]:
    """Return where a release stands once its spec was planned, and what `use` made of the plan."""
    before = status_of(desk.ledger, spec.name)
    _check_name(spec, before)
    with planned(spec, desk) as (plan, _):
        if before.state not in ENDED:
            check_column_names(plan.bound.everything)
        found = use(plan)
    if before.state is None or before.digest != spec.digest:
        _record(desk, spec, ReleaseState.DRAFT, who)
        before = status_of(desk.ledger, spec.name)
    return before, found
