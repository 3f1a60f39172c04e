"""The workspace: the curator that is in force now, exchanged when discreet.toml changes; and what all routes share.

That is the context of one server: its settings, its living parts, and the watch over its budgets.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.requests import HTTPConnection

from discreet.base.files import read_bytes
from discreet.curator import Curator, Planner, curator_of
from discreet.data.catalog.policy_file import LARGEST_FILE, refusal_of
from discreet.data.catalog.toml_text import composed, engine_and_ledger
from discreet.data.catalog.writer import CatalogChange, Edit, change_catalog
from discreet.errors import CatalogError, DiscreetError, LedgerError, NotInForce, ServerFailed
from discreet.server.access.audit_log import AuditLog
from discreet.server.access.limits import BodiesUnderWay, Buckets
from discreet.server.access.tokens import AccessDb, BrowserSessions, Tokens
from discreet.server.jobs.children import ChildLimits, Children
from discreet.server.jobs.queue import Runner
from discreet.server.logs import Metrics, log_failure
from discreet.server.settings import Settings

LOOK_AGAIN = 0.5
"""Seconds after which the file is looked at again: a change is noticed within a second."""
FIRST_WAIT = 10.0
"""Seconds that a call waits for the first attempt to put a change in force, before it is refused."""
SLOWEST_RETRY = 30.0
"""The most seconds between the end of one attempt and the next."""
LAST_ATTEMPT = 5.0
"""Seconds that closing waits for an attempt that is under way."""

_log = logging.getLogger("discreet.server")


class CatalogState(Enum):
    """Whether what discreet.toml says now is what the server does."""

    IN_FORCE = "in force"
    CHANGED = "changed, not yet in force"
    UNREADABLE = "cannot be read, not in force"


class FileVersion(NamedTuple):
    """What changes when the file does."""

    modified: int
    size: int
    inode: int


@dataclass
class _Shelf:
    """A curator, the text it was made from (None: no file), and how many requests still use it.

    `overtaken`: the limits of a later text may be in the ledger by now, so none is in force.
    """

    curator: Curator
    text: bytes | None
    users: int = 0
    retired: bool = False
    overtaken: bool = False

    def has(self, text: bytes | None) -> bool:
        """Return whether a file with this text is in force."""
        return text == self.text and not self.overtaken


@dataclass
class _Stage:
    """Where an attempt leaves the catalog if it fails now."""

    state: CatalogState = CatalogState.UNREADABLE


class Workspace:
    """Lends the curator of one discreet.toml; safe to share among threads.

    A request keeps the curator that it began with. After a change of the file, the old curator is
    closed when its last request ends. A change that cannot be put in force is tried again until it
    can, in a thread of its own; `problem` says why it could not, and `state` where it stands.

    Guarantee: from when a change is noticed until it is in force, no curator is lent and no analyst
        is confirmed, so nothing begins that the new file may forbid: also a change that is noticed
        while an earlier one is being put in force. What is put in force is the file as it is at that
        moment, and limits enter the ledger last, after everything that can fail.
    """

    def __init__(self, config: Path) -> None:
        self._config = config
        self._lock = threading.Condition()
        self._opening = threading.Lock()  # one opens at a time
        self._looked = 0.0
        self._closed = False
        self._attempt: threading.Thread | None = None
        self._first_until = 0.0  # until when calls wait for the first attempt on `_seen`
        self._next_attempt = 0.0
        self._seen: object = _NONE  # the change that is being tried
        self.state = CatalogState.IN_FORCE
        self.problem: DiscreetError | None = None
        text = _text_of(config)
        self._shelf = _Shelf(_started(curator_of(config, text)), text)

    @property
    def config(self) -> Path:
        """Return the path of discreet.toml, which need not exist yet."""
        return self._config

    @contextmanager
    def curator(self) -> Iterator[Curator]:
        """Lend the curator in force; it stays open while it is lent. Raises NotInForce."""
        with self._lent(confirmed=True) as curator:
            yield curator

    @contextmanager
    def last_curator(self) -> Iterator[Curator]:
        """Lend the curator that was in force last: for what is public, and for the server itself."""
        with self._lent(confirmed=False) as curator:
            yield curator

    @contextmanager
    def _lent(self, *, confirmed: bool) -> Iterator[Curator]:
        with self._lock:
            self.refresh()
            if confirmed:
                self._require()
            shelf = self._shelf
            shelf.users += 1
        try:
            yield shelf.curator
        finally:
            with self._lock:
                shelf.users -= 1
                done = shelf.retired and shelf.users == 0
            if done:
                shelf.curator.close()

    def changed(self) -> bool:
        """Return whether `refresh` may have something to do; cheap, never waits for anybody."""
        return time.monotonic() - self._looked > LOOK_AGAIN or self._trying_first()

    def refresh(self, *, at_once: bool = False) -> None:
        """Look whether the file has changed; if so, wait for the first attempt to put it in force.

        `at_once`: also when somebody looked a moment ago, for who may have been added since.
        """
        with self._lock:
            now = time.monotonic()
            if (at_once or now - self._looked > LOOK_AGAIN) and not self._closed:
                self._looked = now
                self._look(now)
            while self._trying_first():
                self._lock.wait(max(0.0, self._first_until - time.monotonic()))

    def require_in_force(self) -> None:
        """Raise NotInForce unless the file is in force as it was last seen; never waits."""
        with self._lock:
            self._require()

    def lists(self, analyst: str) -> bool:
        """Return whether the catalog in force names this analyst; never waits. Raises NotInForce."""
        with self._lock:
            self._require()
            return analyst in self._shelf.curator.catalog.analysts

    def reload(self) -> None:
        """Put the file as it is now in force, or raise and leave the old one in force."""
        self._put_in_force(_Stage(), again=True)

    def close(self) -> None:
        """Close the curator; requests that still use one let it go when they end."""
        with self._lock:
            self._closed = True
            attempt = self._attempt
            self._lock.notify_all()
        if attempt is not None:
            attempt.join(LAST_ATTEMPT)
        with self._lock:
            ended = self._retire()
        _close(ended)

    def _require(self) -> None:
        if self.state is not CatalogState.IN_FORCE:
            raise NotInForce(
                f"The server's {self._config.name} was changed, and the change is not in force yet, so "
                "nothing is answered now.",
                hint="Try again in a moment. Owners see the cause here and at /api/v1/health.",
            )

    def _trying_first(self) -> bool:
        return self._attempt is not None and time.monotonic() < self._first_until

    def _look(self, now: float) -> None:
        """Compare the file with what is in force, and see to it that a change is tried."""
        try:
            text = self._readable()
        except DiscreetError as error:
            self._seen = _NONE
            self._enter(CatalogState.UNREADABLE, error)
            return
        if self._shelf.has(text):
            self._seen = _NONE
            self._enter(CatalogState.IN_FORCE, None)
            return
        if self.state is CatalogState.IN_FORCE:
            # Said in the log by its first attempt, which most often puts it in force at once.
            self.state = CatalogState.CHANGED
        if text != self._seen:
            self._seen, self._next_attempt = text, now
            self._first_until = now + FIRST_WAIT
        if self._attempt is None and now >= self._next_attempt:
            self._attempt = threading.Thread(target=self._try, name="catalog", daemon=True)
            self._attempt.start()

    def _try(self) -> None:
        began, stage = time.monotonic(), _Stage()
        problem: DiscreetError | None = None
        try:
            self._put_in_force(stage)
        except DiscreetError as error:
            problem = error
        except Exception as error:  # noqa: BLE001  # whatever it was: it is tried again
            problem = ServerFailed(f"It cannot be put in force ({type(error).__name__}).")
            if str(problem) != str(self.problem):
                log_failure(error)
        with self._lock:
            self._attempt, self._first_until = None, 0.0
            now = time.monotonic()
            if problem is None:
                # What was changed meanwhile has not been tried yet: at once, and its calls wait for it.
                self._seen, self._next_attempt = _NONE, now
            else:
                self._next_attempt = now + min(2 * (now - began), SLOWEST_RETRY)
                if not self._closed:
                    self._enter(stage.state, problem)
            self._lock.notify_all()

    def _put_in_force(self, stage: _Stage, *, again: bool = False) -> None:
        """Open a curator of the file as it is and exchange it for the old one, or raise.

        `again`: also where the text has not changed, as what it names may have.
        """
        with self._opening:
            text = self._readable()
            if self._shelf.has(text) and not again:
                with self._lock:
                    self._look(time.monotonic())  # what was read before may be old by now
                return
            curator = curator_of(self._config, text)
            stage.state = CatalogState.CHANGED
            try:
                _ = curator.engine  # now, not in the first request
                self._require_same(text)
                try:
                    _ = curator.ledger  # last: the limits that it declares are in force with it
                except BaseException:
                    # Perhaps they are by now: whatever the file says must be put in force anew.
                    self._shelf.overtaken = True
                    raise
                ended = self._exchange(_Shelf(curator, text))
            except BaseException:
                curator.close()
                raise
        _close(ended)

    def _require_same(self, text: bytes | None) -> None:
        if _text_of(self._config) != text:
            raise ServerFailed("It was changed again while it was being put in force.")

    def _exchange(self, new: _Shelf) -> Curator | None:
        """Put `new` in force; return the curator that must be closed, if any."""
        with self._lock:
            if self._closed:
                raise ServerFailed("The server is stopping.")
            ended, self._shelf = self._retire(), new
            self._looked = 0.0  # what is written from now on is seen by the next call
            self._enter(CatalogState.IN_FORCE, None)
            self._seen = _NONE
            self._look(time.monotonic())  # what was written meanwhile closes at once
            self._lock.notify_all()
            return ended

    def _readable(self) -> bytes | None:
        """Return the text of the file; None for one that is not there yet. Else raise."""
        text = _text_of(self._config)
        if self._shelf.text is not None and not text:
            gone = "is empty" if text == b"" else "is not there"
            if text is None or self._shelf.text:
                hint = "Put it back; or stop the server, if nothing shall be asked any more."
                raise CatalogError(f"The file '{self._config.name}' {gone}.", hint=hint)
        return text

    def _enter(self, state: CatalogState, problem: DiscreetError | None) -> None:
        """Be in this state from now on; the log says so once, not at every attempt."""
        before = self.state, type(self.problem)
        told = self.problem is not None or problem is not None
        self.state, self.problem = state, problem
        if told and before != (state, type(problem)):
            level = logging.INFO if problem is None else logging.WARNING
            facts = {} if problem is None else {"kind": problem.kind, "why": problem.message}
            _log.log(level, "catalog %s", state.value, extra={"facts": facts})

    def _retire(self) -> Curator | None:
        """Return the curator that must be closed now, if nobody uses the one in force so far."""
        old = self._shelf
        if old.retired:
            return None
        old.retired = True
        return old.curator if old.users == 0 else None


_NONE = object()
"""No change is being tried: equal to no text, and not to a file that is not there."""


def _started(curator: Curator) -> Curator:
    try:
        _ = curator.engine, curator.ledger
    except BaseException:
        curator.close()
        raise
    return curator


def _close(curator: Curator | None) -> None:
    if curator is not None:
        curator.close()


def _text_of(path: Path) -> bytes | None:
    try:
        return read_bytes(path, most=LARGEST_FILE)
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "Give the user of the server the right to read it."
        raise refusal_of(error, path.name, hint=hint) from None


def stamp_of(path: Path) -> FileVersion | None:
    """Return what changes when a file does; None for one that is gone."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return FileVersion(facts.st_mtime_ns, facts.st_size, facts.st_ino)


def change(workspace: Workspace, edit: Edit) -> CatalogChange:
    """Return the catalogs before and after `edit` has changed the text of discreet.toml.

    The new text must read as a catalog, and the curator must start with it. Limits that changed
    become entries of the ledger when it does.

    Guarantee: as `change_file`: a file that the curator cannot start with is put back as it was.
    """
    config = workspace.config
    config.parent.mkdir(parents=True, exist_ok=True)
    start = composed(engine_and_ledger())
    return change_catalog(config, edit, start=start, then=workspace.reload)


Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Context:
    """The settings and the living parts of one server."""

    settings: Settings
    workspace: Workspace
    access: AccessDb
    tokens: Tokens
    sessions: BrowserSessions
    runner: Runner
    children: Children
    planner: Planner
    by_token: Buckets
    by_address: Buckets
    metrics: Metrics
    watch: BudgetWatch
    bodies: BodiesUnderWay = field(default_factory=BodiesUnderWay)
    parts: dict[Callable[[Settings], Any], Any] = field(default_factory=dict)
    """What features keep for their routes, by how it is made."""

    @classmethod
    def open(cls, settings: Settings, *, warm: Sequence[str] = ()) -> Context:
        """Return everything opened and ready; `close` gives it back.

        `warm` are modules that a process imports while it waits for a job.
        """
        AuditLog(settings.state_folder).verify()  # before anything is opened that must be closed
        workspace = Workspace(settings.config)
        access = AccessDb(settings.state_folder)
        tokens = Tokens(access, listed=workspace.lists)
        return cls(
            settings=settings,
            workspace=workspace,
            access=access,
            tokens=tokens,
            sessions=BrowserSessions(access, tokens, hours=settings.session_hours),
            runner=Runner(
                workers=settings.workers,
                in_work_each=settings.in_work_each,
                reading_each=settings.reading_each,
                waiting_each=settings.waiting_each,
            ),
            children=Children(
                settings.state_folder,
                ChildLimits(settings.job_memory_mb, settings.job_seconds),
                hidden=settings.secret_variables,
                spare=settings.spare_child,
                warm=warm,
            ),
            planner=Planner(),
            by_token=Buckets(settings.rate, settings.burst),
            by_address=Buckets(settings.address_rate, settings.address_burst),
            metrics=Metrics(),
            watch=BudgetWatch(workspace),
        )

    def close(self) -> None:
        """Stop taking questions, let running ones end or be cancelled, then close the ledger."""
        self.runner.close()
        self.children.close()
        self.planner.close()
        self.workspace.close()
        self.access.close()


def context_of(connection: HTTPConnection) -> Context:
    """Return the context of the server that answers this request."""
    found: Context = connection.app.state.context
    return found


def kept_once(make: Callable[[Settings], Part]) -> Callable[[HTTPConnection], Part]:
    """Return a function of a request: what `make` has made for its server, once, when first asked for.

    It is how the routes of a feature share a shelf. Making it must be cheap and change nothing: two
    requests at the same time may both do it, and one of the two is kept.
    """

    def found(connection: HTTPConnection) -> Part:
        context = context_of(connection)
        if make not in context.parts:
            context.parts.setdefault(make, make(context.settings))
        part: Part = context.parts[make]
        return part

    return found


WATCH_SECONDS = 5.0


class BudgetWatch:
    """Looks at the budgets of one server every few seconds; spends nothing."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._told: dict[str, str | None] = {}
        self.refused: LedgerError | None = None
        """Why the ledger could not be used when it was last looked at."""

    def look(self) -> dict[str, float]:
        """Return how much of each budget is used, and log the ones whose alert is new."""
        try:
            with self._workspace.last_curator() as curator:
                found = curator.budget_alerts()
        except LedgerError as error:
            self.refused = error
            raise
        self.refused = None
        for budget, facts in found.items():
            alert = facts["alert"]
            if alert is not None and alert != self._told.get(budget):
                said = {"budget": budget, "used": round(facts["used"], 3), "mark": facts["mark"]}
                _log.warning("budget %s", alert, extra={"facts": said})
            self._told[budget] = alert
        return {budget: facts["used"] for budget, facts in found.items()}

    async def watch(self) -> None:
        """Look again and again until cancelled; a ledger that is busy is looked at next time."""
        while True:
            try:
                await asyncio.to_thread(self.look)
            except DiscreetError as error:
                _log.warning(
                    "budgets not looked at", extra={"facts": {"kind": type(error).__name__}}
                )
            await asyncio.sleep(WATCH_SECONDS)
