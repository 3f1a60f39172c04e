"""Zip files taken apart into all their fields, changed, and put together again; and programs that read them."""

from __future__ import annotations

import io
import random
import shutil
import struct
import subprocess
import types
import zipfile
import zlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

LOCAL = ("version", "flags", "method", "time", "date", "crc", "packed", "size", "name", "extra")
ENTRY = ("made_by", *LOCAL[:8], "comment_length", "disk", "internal", "external", "offset")
END = ("disk", "first_disk", "here", "count", "directory", "begin")
VALUES = (0, 1, 2, 8, 14, 20, 45, 0x21, 0x800, 0xFFFF, 0xFFFFFFFF)


@dataclass
class TakenApart:
    """One member: what its own header says, what the directory says, and its packed bytes."""

    name: bytes
    local: dict[str, int]
    entry: dict[str, int]
    packed: bytes
    local_name: bytes
    local_extra: bytes = b""
    entry_extra: bytes = b""
    comment: bytes = b""
    listed: bool = True
    before: bytes = b""


@dataclass
class ZipFields:
    """A whole archive; `end` overrides what follows from the members."""

    members: list[TakenApart]
    end: dict[str, int] = field(default_factory=dict)
    front: bytes = b""
    behind: bytes = b""
    comment: bytes = b""
    moved: bool = True
    """Whether offsets count what lies in front."""


def taken_apart(data: bytes) -> ZipFields:
    members = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            start = info.header_offset
            numbers = struct.unpack_from("<4x5H3L2H", data, start)
            local = dict(zip(LOCAL, numbers, strict=True))
            names = start + 30
            extra = names + local["name"]
            content = extra + local["extra"]
            entry = dict.fromkeys(ENTRY, 0) | {k: local[k] for k in LOCAL[:8]}
            entry |= {"made_by": info.create_version | info.create_system << 8}
            entry |= {"packed": info.compress_size, "size": info.file_size, "crc": info.CRC}
            entry |= {"external": info.external_attr}
            packed = data[content : content + info.compress_size]
            name = info.filename.encode()
            made = TakenApart(name, local, entry, packed, name, data[extra:content])
            members.append(made)
    return ZipFields(members)


def put_together(found: ZipFields) -> bytes:
    parts, entries, place = [found.front], [], len(found.front) if found.moved else 0
    for each in found.members:
        local = each.local | {"name": len(each.local_name), "extra": len(each.local_extra)}
        header = struct.pack("<4s5H3L2H", b"PK\3\4", *(local[k] for k in LOCAL))
        place += len(each.before)
        whole = header + each.local_name + each.local_extra + each.packed
        entry = {**each.entry, "offset": each.entry["offset"] or place}
        lengths = len(each.name), len(each.entry_extra), len(each.comment)
        head = (entry[k] for k in ("made_by", *LOCAL[:8]))
        tail = (entry[k] for k in ("disk", "internal", "external", "offset"))
        listed = struct.pack("<4s6H3L5H2L", b"PK\1\2", *head, *lengths, *tail)
        if each.listed:
            entries.append(listed + each.name + each.entry_extra + each.comment)
        parts += [each.before, whole]
        place += len(whole)
    directory = b"".join(entries)
    count = len(entries)
    end = dict(zip(END, (0, 0, count, count, len(directory), place), strict=True)) | found.end
    last = struct.pack("<4s4H2LH", b"PK\5\6", *(end[k] for k in END), len(found.comment))
    return b"".join([*parts, directory, last, found.comment, found.behind])


def other(name: bytes, content: bytes, like: TakenApart) -> TakenApart:
    """Return a stored member of other content."""
    facts = {"method": 0, "crc": zlib.crc32(content), "packed": len(content), "size": len(content)}
    local = like.local | facts | {"version": 20}
    return TakenApart(name, local, like.entry | facts | {"version": 20}, content, name)


Mutation = Callable[[ZipFields, random.Random], None]


def _local_field(found: ZipFields, chance: random.Random) -> None:
    name = chance.choice(LOCAL[:8])
    chance.choice(found.members).local[name] = _value(chance, name)


def _entry_field(found: ZipFields, chance: random.Random) -> None:
    name = chance.choice([k for k in ENTRY if k != "comment_length"])
    chance.choice(found.members).entry[name] = _value(chance, name)


def _both_fields(found: ZipFields, chance: random.Random) -> None:
    each, name = chance.choice(found.members), chance.choice(LOCAL[:8])
    each.local[name] = each.entry[name] = _value(chance, name)


def _end_field(found: ZipFields, chance: random.Random) -> None:
    name = chance.choice(END)
    found.end[name] = _value(chance, name)


def _value(chance: random.Random, name: str) -> int:
    wide = name in ("crc", "packed", "size", "external", "offset", "directory", "begin")
    chosen = chance.choice([*VALUES, chance.randrange(1 << 32)])
    return chosen if wide else chosen & 0xFFFF


def _extra(found: ZipFields, chance: random.Random) -> None:
    each = chance.choice(found.members)
    path = b"\1" + struct.pack("<L", zlib.crc32(each.name)) + b"tables/other.csv"
    body = chance.choice([path, b"", chance.randbytes(9)])
    extra = struct.pack("<2H", chance.choice([0x7075, 1, 0x5455, 0x9901]), len(body)) + body
    where = chance.randrange(3)
    each.local_extra += extra if where != 1 else b""
    each.entry_extra += extra if where != 0 else b""


def _name(found: ZipFields, chance: random.Random) -> None:
    each = chance.choice(found.members)
    changed = chance.choice(
        [
            each.name.upper(),
            each.name + b"\0",
            b"./" + each.name,
            each.name + b"/",
            b"/" + each.name,
        ]
    )
    where = chance.randrange(3)
    each.local_name = changed if where != 1 else each.local_name
    each.name = changed if where != 0 else each.name


def _hidden(found: ZipFields, chance: random.Random) -> None:
    like = chance.choice(found.members)
    made = other(like.name, b"hidden\n", like)
    made.listed = False
    found.members.insert(chance.randrange(len(found.members) + 1), made)


def _inserted(found: ZipFields, chance: random.Random) -> None:
    like = chance.choice(found.members)
    name = chance.choice([like.name, b"tables/other.csv", b"tables/", like.name.swapcase()])
    found.members.insert(chance.randrange(len(found.members) + 1), other(name, b"", like))


def _doubled(found: ZipFields, chance: random.Random) -> None:
    twice = deepcopy(chance.choice(found.members))
    found.members.insert(chance.randrange(len(found.members) + 1), twice)


def _removed(found: ZipFields, chance: random.Random) -> None:
    del found.members[chance.randrange(len(found.members))]


def _unlisted(found: ZipFields, chance: random.Random) -> None:
    chance.choice(found.members).listed = False


def _moved(found: ZipFields, chance: random.Random) -> None:
    chance.shuffle(found.members)


def _comment(found: ZipFields, chance: random.Random) -> None:
    chosen = chance.choice([found, chance.choice(found.members)])
    chosen.comment = b"a comment"


def _gap(found: ZipFields, chance: random.Random) -> None:
    chance.choice(found.members).before = chance.randbytes(chance.randrange(1, 40))


def _around(found: ZipFields, chance: random.Random) -> None:
    in_front = put_together(
        ZipFields([other(each.name, b"other\n", each) for each in found.members])
    )
    text = chance.choice([in_front, b"x", chance.randbytes(50)])
    if chance.random() < 0.7:
        found.front, found.moved = text, chance.random() < 0.5
    else:
        found.behind = text


def _packed(found: ZipFields, chance: random.Random) -> None:
    """Pack a member otherwise: another level, not at all, in two parts, or with a rest behind."""
    each = chance.choice(found.members)
    content = each.packed if each.entry["method"] == 0 else zlib.decompress(each.packed, -15)
    packer = zlib.compressobj(chance.choice([0, 1, 3, 9]), zlib.DEFLATED, -15)
    half = len(content) // 2
    parts = packer.compress(content[:half]) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = parts + packer.compress(content[half:]) + packer.flush()
    packed += chance.choice([b"", b"", b"rest"])
    stored = chance.random() < 0.3
    facts = {"method": 0 if stored else 8, "packed": len(content if stored else packed)}
    each.packed = content if stored else packed
    each.local |= facts
    each.entry |= facts
    if each.local_extra[:2] == b"\1\0":
        each.local |= {"packed": 0xFFFFFFFF}
        each.local_extra = struct.pack("<2H2Q", 1, 16, len(content), facts["packed"])


MUTATIONS: tuple[Mutation, ...] = (
    *(_local_field, _entry_field, _both_fields, _end_field, _extra, _name, _hidden, _inserted),
    *(_doubled, _removed, _unlisted, _moved, _comment, _gap, _around, _packed),
)


def mutated_zip(data: bytes, chance: random.Random) -> bytes:
    """Return the archive with one or two of its structures changed, or a byte of it."""
    found = taken_apart(data)
    for _ in range(chance.choice([1, 1, 1, 2])):
        chance.choice(MUTATIONS)(found, chance)
    made = bytearray(put_together(found))
    if chance.random() < 0.1:
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def streamed(data: bytes) -> dict[str, bytes]:
    """Return what a program shows that reads members one after the other from the first byte on."""
    place, shown = 0, {}
    while data[place : place + 4] == b"PK\3\4":
        head = dict(zip(LOCAL, struct.unpack_from("<4x5H3L2H", data, place), strict=True))
        name = data[place + 30 : place + 30 + head["name"]]
        extra = place + 30 + head["name"]
        packed = head["packed"]
        if packed == 0xFFFFFFFF:
            packed = struct.unpack_from("<Q", data, extra + 12)[0]
        start = extra + head["extra"]
        content = data[start : start + packed]
        shown[name.decode()] = content if head["method"] == 0 else zlib.decompress(content, -15)
        place = start + packed
    return shown


def by_directory(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _program(command: list[str]) -> Callable[[bytes, Path], dict[str, bytes]]:
    def shown(data: bytes, folder: Path) -> dict[str, bytes]:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "out").mkdir(parents=True)
        (folder / "file.zip").write_bytes(data)
        subprocess.run(command, cwd=folder / "out", capture_output=True, check=False)
        files = [path for path in (folder / "out").rglob("*") if path.is_file()]
        return {path.relative_to(folder / "out").as_posix(): path.read_bytes() for path in files}

    return shown


def _programs(*commands: list[str]) -> dict[str, Callable[[bytes, Path], dict[str, bytes]]]:
    return {each[0]: _program(each) for each in commands if shutil.which(each[0])}


READERS: dict[str, Callable[[bytes, Path], dict[str, bytes]]] = {
    "zipfile": lambda data, _: by_directory(data),
    "streamed": lambda data, _: streamed(data),
    **_programs(["unzip", "-qq", "-o", "../file.zip"], ["bsdtar", "-xf", "../file.zip"]),
}
SLOW_READERS = _programs(["jar", "xf", "../file.zip"], ["7z", "x", "-y", "../file.zip"])


def earlier_verifier(package: Path) -> types.ModuleType:
    """Return the verifier that an earlier version put into its packages, as it was."""
    module = types.ModuleType("earlier_verifier")
    source = by_directory(package.read_bytes())["verify.py"]
    exec(compile(source, "verify.py", "exec"), module.__dict__)
    return module
