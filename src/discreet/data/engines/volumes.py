"""What encrypts the place where a file lies: the volume below it, as this system describes it.

Read from /proc and /sys of Linux; nothing is mounted, opened or changed. What lies below the system (a disk that
encrypts itself, a cloud's volume) cannot be seen from here, and is called plain.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_POLICY = 0xC0096616
"""FS_IOC_GET_ENCRYPTION_POLICY_EX of linux/fscrypt.h."""
_LAYERED = {
    "ecryptfs": "eCryptfs",
    "fuse.gocryptfs": "gocryptfs",
    "fuse.cryfs": "CryFS",
    "fuse.encfs": "EncFS",
    "fuse.securefs": "securefs",
}
_MEMORY = ("tmpfs", "ramfs")
_ELSEWHERE = re.compile(r"(nfs|cifs|smb|9p|virtiofs|ceph|zfs|fuse)")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DEEP = 16
"""So many layers of devices are followed."""


class AtRest(Enum):
    """What is known about a place when the power is off."""

    ENCRYPTED = "encrypted"
    MEMORY = "memory"
    PLAIN = "plain"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Volume:
    """What a place lies on; `how` says it in a few words."""

    rest: AtRest
    how: str


@dataclass(frozen=True, slots=True)
class _Mount:
    device: str
    point: Path
    kind: str
    source: str
    options: str


def has_policy(folder: Path) -> bool:
    """Return whether the file system itself encrypts a folder's files (fscrypt)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.ioctl(handle, _POLICY, struct.pack("Q", 24) + bytes(24))
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


@dataclass(frozen=True, slots=True)
class HostSystem:
    """Where the system describes itself; tests hand in a made-up one."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    policy: Callable[[Path], bool] = has_policy

    def volume_of(self, path: Path, layers: int = 0) -> Volume:
        """Return what the place of `path`, or the nearest folder above it that there is, lies on."""
        whole = path.absolute()
        place = next(each for each in (whole, *whole.parents) if each.exists())
        mount = _mount_of(place.resolve(), self._mounts()) if layers <= _DEEP else None
        if mount is None:
            return Volume(AtRest.UNKNOWN, "this system does not say")
        if mount.kind in _LAYERED:
            return Volume(AtRest.ENCRYPTED, _LAYERED[mount.kind])
        if self.policy(place if place.is_dir() else place.parent):
            return Volume(AtRest.ENCRYPTED, "fscrypt")
        if mount.kind in _MEMORY:
            return Volume(AtRest.MEMORY, "memory only")
        if mount.kind == "overlay":
            return self._overlay(mount, layers)
        if _ELSEWHERE.match(mount.kind):
            return Volume(AtRest.UNKNOWN, f"{mount.kind}, which another machine or tool encrypts")
        return self._block(self._device(mount), layers)

    def swaps(self) -> list[tuple[str, Volume]]:
        """Return where pages of memory may be written, and what each place lies on."""
        try:
            lines = (self.proc / "swaps").read_text(encoding="utf-8").splitlines()[1:]
        except OSError:
            return []
        found = []
        for line in lines:
            place = Path(_plain(line.split()[0]))
            if place.name.startswith("zram"):
                found.append((str(place), Volume(AtRest.MEMORY, "compressed memory")))
            elif " partition" in line:
                found.append((str(place), self._block(self._number(str(place)), 0)))
            else:
                found.append((str(place), self.volume_of(place)))
        return found

    def _mounts(self) -> list[_Mount]:
        try:
            text = (self.proc / "self" / "mountinfo").read_text(encoding="utf-8")
        except OSError:
            return []
        found = []
        for line in text.splitlines():
            before, _, after = line.partition(" - ")
            left, right = before.split(" "), after.split(" ")
            point, source = Path(_plain(left[4])), _plain(right[1])
            found.append(_Mount(left[2], point, right[0], source, right[2] if right[2:] else ""))
        return found

    def _overlay(self, mount: _Mount, layers: int) -> Volume:
        upper = re.search(r"(?:^|,)upperdir=([^,]+)", mount.options)
        if upper is None or not Path(_plain(upper[1])).exists():
            return Volume(
                AtRest.UNKNOWN, "a container's layer, whose disk cannot be seen from inside"
            )
        return self.volume_of(Path(_plain(upper[1])), layers + 1)

    def _device(self, mount: _Mount) -> str:
        """Return the device below a mount; file systems of several devices have numbers of their own."""
        return self._number(mount.source) if mount.device.startswith("0:") else mount.device

    def _number(self, source: str) -> str:
        name = Path(source).resolve().name if source.startswith("/dev/") else ""
        return _read(self.sys / "class" / "block" / name / "dev")

    def _block(self, number: str, layers: int) -> Volume:
        place = self.sys / "dev" / "block" / number
        if not number or layers > _DEEP or not place.exists():
            return Volume(AtRest.UNKNOWN, "a device that this system does not describe")
        device = place.resolve()
        uuid = _read(device / "dm" / "uuid")
        if uuid.startswith("CRYPT-"):
            return Volume(AtRest.ENCRYPTED, f"dm-crypt ({uuid.split('-')[1]})")
        if backing := _read(device / "loop" / "backing_file"):
            return self.volume_of(Path(backing), layers + 1)
        if (device / "partition").exists():
            return self._block(_read(device.parent / "dev"), layers + 1)
        below = [_read(each / "dev") for each in sorted((device / "slaves").glob("*"))]
        if below:
            return _worst([self._block(each, layers + 1) for each in below])
        if device.name.startswith("zram"):
            return Volume(AtRest.MEMORY, "compressed memory")
        return Volume(AtRest.PLAIN, f"the disk {device.name}, plain as far as this system can see")


def _worst(found: Sequence[Volume]) -> Volume:
    """Return the weakest of several devices: rows are spread over all of them."""
    order = (AtRest.PLAIN, AtRest.UNKNOWN, AtRest.MEMORY, AtRest.ENCRYPTED)
    return min(found, key=lambda volume: order.index(volume.rest))


def _mount_of(place: Path, mounts: list[_Mount]) -> _Mount | None:
    """Return the mount that a place lies on: the deepest, and of those in one place the last."""
    inside = [mount for mount in mounts if place.is_relative_to(mount.point)]
    deepest = max((len(mount.point.parts) for mount in inside), default=0)
    return next((m for m in reversed(inside) if len(m.point.parts) == deepest), None)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
