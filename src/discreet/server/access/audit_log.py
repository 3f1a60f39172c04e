"""The audit log: who did what on this server, one hash-chained line each, never changed."""

from __future__ import annotations

import datetime as dt
import fcntl
import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from enum import Enum
from pathlib import Path

from discreet.base.files import write_whole
from discreet.base.proof import ROOT, canonical, link_hash
from discreet.errors import AuditTampered, LedgerWriteFailed

LOG = "audit.log"
MOST_READ = 1000
"""Lines that one reader gets at most; the file has the rest."""
LONGEST_TEXT = 200
LONGEST_LINE = 16 << 10
"""More than a line can have: a dozen facts of 200 characters, each escaped."""
BLOCK = 64 << 10
"""Bytes that are read at a time from the end."""


class AuditAction(Enum):
    """What can be done; append-only: a meaning never changes."""

    TOKEN_MADE = "token made"  # noqa: S105 words, no secret
    TOKENS_LISTED = "tokens listed"
    TOKEN_REVOKED = "token revoked"  # noqa: S105 words, no secret
    SIGNED_IN = "signed in"
    SIGN_IN_FAILED = "sign-in failed"
    SIGNED_OUT = "signed out"
    REFUSED = "refused"
    UPLOADED = "uploaded"
    UPLOAD_CONFIRMED = "upload confirmed"
    UPLOAD_REMOVED = "upload removed"
    BUDGET_CHANGED = "budget changed"
    SHARE_CHANGED = "share changed"
    SHARE_REMOVED = "share removed"
    DATASET_RENAMED = "dataset renamed"
    DATASET_REFRESHED = "dataset refreshed"
    DATASET_EDITED = "dataset edited"
    DATASET_REMOVED = "dataset removed"
    SURVEY_BEGUN = "survey begun"
    SURVEY_CLOSED = "survey closed"
    BUDGET_RENEWED = "budget renewed"
    VERSION_BEGUN = "version begun"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: an analyst or a role, and by which token; neither is known of a stranger."""

    name: str
    token: str = ""


COMMAND_LINE = Actor("command line")
STRANGER = Actor("somebody")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it was written; `facts` are public words about the deed, no value of any row."""

    position: int
    time: str
    who: str
    token: str
    what: str
    facts: Mapping[str, str]


class AuditLog:
    """The log of one server's state folder, shared by all its processes and by the commands.

    Guarantee: a line is on the disk when `record` returns. `verify` raises AuditTampered if any byte
        of a line that a head has named differs from what was written, or if the log is shorter than
        its head says. Whoever can write both files can forge both: keep copies elsewhere.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / LOG
        self._head = folder / HEAD
        self._limited = RateLimitedLog()

    def record(self, who: Actor, deed: AuditAction, **facts: object) -> None:
        """Add one line; what did not happen after all is still told, never the other way round."""
        self.record_all(who, deed, [facts])

    def record_all(
        self, who: Actor, deed: AuditAction, many: Sequence[Mapping[str, object]]
    ) -> None:
        """Add one line for each of `many`, all of them durable when this returns."""
        try:
            with self._locked(fcntl.LOCK_EX) as log:
                head = self._caught_up(log)
                text, head = _written(head, who, deed, many)
                _write_all(log, text)
                os.fsync(log)
                write_head(self._head, head)
        except OSError as error:
            raise LedgerWriteFailed(
                "The audit log could not be written, so nothing was done.",
                hint="Is the disk full, or the folder read-only?",
            ) from error

    def record_limited(self, who: Actor, deed: AuditAction, **facts: object) -> None:
        """Add a line about an attempt that failed, unless there were many: then their number later."""
        unwritten = self._limited.may_write(f"{deed.value} {who.token}")
        if unwritten is not None:
            more = {"unwritten_before": unwritten} if unwritten else {}
            self.record(who, deed, **facts, **more)

    def last(self, number: int) -> list[Line]:
        """Return the latest lines, latest first; at most MOST_READ, whatever the file's length."""
        wanted = min(number, MOST_READ)
        if wanted <= 0 or not self._log.exists():
            return []
        with self._locked(fcntl.LOCK_SH) as log:
            size = os.fstat(log).st_size
            content, start = b"", size
            while start > 0 and content.count(b"\n") <= wanted:
                if len(content) > (wanted + 1) * LONGEST_LINE:
                    raise _damaged("a line is longer than any that was written")
                step = min(start, BLOCK)
                start -= step
                content = os.pread(log, step, start) + content
        lines = content.split(b"\n")[:-1]  # what follows the last newline was torn by a crash
        whole = lines if start == 0 else lines[1:]
        return [_read(line) for line in reversed(whole[-wanted:])]

    def verify(self) -> int:
        """Return how many lines there are, after checking each of them and the head."""
        if not self._log.exists() and not self._head.exists():
            return 0
        with self._locked(fcntl.LOCK_SH) as log:
            named = read_head(self._head)
            now, seen = AuditHead(-1, 0, ROOT), named.position < 0
            with os.fdopen(os.dup(log), "rb") as lines:
                for text in lines:
                    if not text.endswith(b"\n") and now.end >= named.end:
                        break  # torn by a crash before anybody was told
                    now = _checked(now, text)
                    seen = seen or now == named
            if not seen:
                raise _damaged("its head names a line that is not there")
        return now.position + 1

    def _caught_up(self, log: int) -> AuditHead:
        """Return the last line there is; a crash may have left one that the head does not name."""
        head = read_head(self._head) if self._head.exists() else None
        size = os.fstat(log).st_size
        if head is None:
            if size:
                raise _damaged("its head is missing")
            head = AuditHead(-1, 0, ROOT)
            write_head(self._head, head)
        if size < head.end:
            raise _damaged("it is shorter than its head says")
        rest = os.pread(log, size - head.end, head.end) if size > head.end else b""
        for text in rest.splitlines(keepends=True):
            if text.endswith(b"\n"):
                head = _checked(head, text)
        if head.end < size:
            os.ftruncate(log, head.end)
        os.lseek(log, head.end, os.SEEK_SET)
        return head

    @contextmanager
    def _locked(self, kind: int) -> Iterator[int]:
        """Lend the open file; the lock is among all threads and processes of this machine."""
        create = os.O_CREAT if kind == fcntl.LOCK_EX else 0
        try:
            log = os.open(self._log, os.O_RDWR | create | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            raise _damaged("it is missing") from None
        except OSError as error:
            raise LedgerWriteFailed(
                "The audit log could not be opened.", hint="Is the folder read-only?"
            ) from error
        try:
            fcntl.flock(log, kind)
            yield log
        finally:
            os.close(log)


def _written(
    head: AuditHead, who: Actor, deed: AuditAction, many: Sequence[Mapping[str, object]]
) -> tuple[bytes, AuditHead]:
    """Return the new lines and the head after them."""
    time = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    texts = []
    for facts in many:
        said = {name: str(value)[:LONGEST_TEXT] for name, value in facts.items()}
        name = who.name[:LONGEST_TEXT]
        line = Line(head.position + 1, time, name, who.token, deed.value, said)
        content = canonical(asdict(line)).encode()
        mark = link_hash(head.hash, content)
        texts.append(mark.encode() + b" " + content + b"\n")
        head = AuditHead(head.position + 1, head.end + len(texts[-1]), mark)
    return b"".join(texts), head


def _checked(head: AuditHead, text: bytes) -> AuditHead:
    """Return the head after one more line, which must continue the chain to its last byte."""
    mark, _, content = text.removesuffix(b"\n").partition(b" ")
    found = link_hash(head.hash, content)
    if not text.endswith(b"\n") or mark != found.encode() or len(text) != len(content) + 66:
        raise _damaged(f"line {head.position + 2} does not match its own hash")
    return AuditHead(head.position + 1, head.end + len(text), found)


def _read(text: bytes) -> Line:
    try:
        body = json.loads(text.partition(b" ")[2])
        return Line(*(body[each.name] for each in fields(Line)))
    except (ValueError, KeyError, TypeError):
        raise _damaged("a line cannot be read") from None


def _write_all(log: int, content: bytes) -> None:
    while content:
        content = content[os.write(log, content) :]


def _damaged(how: str) -> AuditTampered:
    return AuditTampered(
        f"The audit log is damaged: {how}.",
        hint=f"Move {LOG} and {HEAD} to a safe place as evidence; then a new log begins.",
    )


HEAD = "audit.head"


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The last line: its position, the byte where it ends, and its hash."""

    position: int
    end: int
    hash: str

    def to_bytes(self) -> bytes:
        """Return one line with its own checksum."""
        text = f"{self.position} {self.end} {self.hash}"
        return f"{text} {hashlib.sha256(text.encode()).hexdigest()}\n".encode()


def read_head(path: Path) -> AuditHead:
    """Return the head, or raise AuditTampered where it is missing or any byte of it differs."""
    try:
        content = path.read_bytes()
        position, end, mark, _ = content.decode("ascii").split(" ")
        head = AuditHead(int(position), int(end), mark)
    except (OSError, ValueError):
        head = None
    if head is None or head.to_bytes() != content:
        raise AuditTampered(
            f"The head of the audit log, '{HEAD}', is missing or damaged.",
            hint="Put it back from a copy; or move it and the log to a safe place as evidence.",
        )
    return head


def write_head(path: Path, head: AuditHead) -> None:
    """Replace the head: after a crash there is the old one or the new one, never half of one."""
    write_whole(path, head.to_bytes(), durable=True)


BURST = 30
PAUSE = 60.0
"""After BURST lines at once, one in so many seconds: nobody fills a disk by guessing tokens."""
KEPT = 1000
"""Kinds of failure that are told apart; the longest unseen are forgotten first."""


class RateLimitedLog:
    """A bucket for each kind of failure, which counts what it turned away."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: OrderedDict[str, tuple[float, float, int]] = OrderedDict()

    def may_write(self, kind: str) -> int | None:
        """Return None if it is not time for another line; else how many were left out before it."""
        now = self._clock()
        with self._lock:
            level, seen, missed = self._kinds.pop(kind, (float(BURST), now, 0))
            level = min(float(BURST), level + (now - seen) / PAUSE)
            enough = level >= 1
            left = (level - 1, now, 0) if enough else (level, now, missed + 1)
            self._kinds[kind] = left
            if len(self._kinds) > KEPT:
                self._kinds.popitem(last=False)
        return missed if enough else None
