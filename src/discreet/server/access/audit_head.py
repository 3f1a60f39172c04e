"""The head of the audit log, in a file of its own: what a shortened log cannot know."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from discreet.core.system.atomic_file import write_whole
from discreet.errors import AuditTampered

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
