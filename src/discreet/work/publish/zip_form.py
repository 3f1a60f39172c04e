"""The one form of a package as a zip file: every byte around the packed members follows from them; and how much
work a manifest may ask for.

`verify.py` in a package begins with this file; it needs nothing but Python's standard library.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

BLOCK = 1 << 20


class PackageProblem(Exception):
    """One sentence about what does not hold."""


class ZipMember(NamedTuple):
    """One member as the archive's directory describes it."""

    name: str
    method: int
    crc: int
    size: int
    packed: int
    wide: bool
    system: int = 3


DEFLATED, STORED = 8, 0
NARROW, ALL_ONES = (1 << 31) - 1, 0xFFFFFFFF
ENTRY, LOCAL, END = "<4s2B5H3L5H2L", "<4s5H3L2H", "<4s4H2LH"
WIDE_END, LOCATOR = "<4sQ2H2L4Q", "<4sLQL"
PLAIN, WIDE = 20, 45  # the version of the format that a reader must know
DATED = 0, 33  # midnight of 1 January 1980
OWNERS_FILE = 0o600 << 16
SIGNED = "manifest.json", "signature"
NAME = re.compile(
    r"(sheet\.html|codebook\.csv|(datapackage|csv-metadata|ledger)\.json|spec\.toml|verify\.py"
    r"|(tables|measurements|mappings|facts)/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.csv"
    r"|tables/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.parquet)"
)


def canonical_member(name: str, crc: int, size: int, packed: int) -> ZipMember:
    """Return a member as packages have it: what its header says follows from its name and content."""
    stored = name in SIGNED or name.endswith(".parquet")
    return ZipMember(name, STORED if stored else DEFLATED, crc, size, packed, "/" in name)


def _wide(values: list[int]) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values) if values else b""


def local_header(member: ZipMember) -> bytes:
    """Return the bytes before a member's packed content."""
    sizes = [member.size, member.packed] if member.wide else []
    extra, name = _wide(sizes), member.name.encode("ascii")
    packed, size = (ALL_ONES, ALL_ONES) if sizes else (member.packed, member.size)
    facts = WIDE if sizes else PLAIN, 0, member.method, *DATED, member.crc, packed, size
    return struct.pack(LOCAL, b"PK\3\4", *facts, len(name), len(extra)) + name + extra


def directory_entry(member: ZipMember, offset: int) -> bytes:
    """Return the bytes of the directory about the member whose header begins at `offset`."""
    sizes = [member.size, member.packed]
    large = sizes if max(sizes) > NARROW else []
    far = [offset] if offset > NARROW else []
    extra, name = _wide(large + far), member.name.encode("ascii")
    version = WIDE if member.wide or extra else PLAIN
    packed, size = (ALL_ONES, ALL_ONES) if large else (member.packed, member.size)
    facts = version, member.system, version, 0, member.method, *DATED, member.crc, packed, size
    lengths = len(name), len(extra), 0, 0, 0
    place = OWNERS_FILE, ALL_ONES if far else offset
    return struct.pack(ENTRY, b"PK\1\2", *facts, *lengths, *place) + name + extra


def directory_end(count: int, size: int, offset: int) -> bytes:
    """Return the bytes after the directory, which has `count` entries and begins at `offset`."""
    wide = b""
    if count > 0xFFFF or max(size, offset) > NARROW:
        wide = struct.pack(WIDE_END, b"PK\6\6", 44, WIDE, WIDE, 0, 0, count, count, size, offset)
        wide += struct.pack(LOCATOR, b"PK\6\7", 0, offset + size, 1)
    count, size, offset = min(count, 0xFFFF), min(size, ALL_ONES), min(offset, ALL_ONES)
    return wide + struct.pack(END, b"PK\5\6", 0, 0, count, count, size, offset, 0)


def read_directory(file: IO[bytes], most: int) -> dict[str, tuple[ZipMember, int]]:
    """Return all members and where they begin, from a directory that is exactly ours.

    Guarantee: the members lie one after the other from the first byte on, and directory and end are
        what `directory_entry` and `directory_end` write of them: nothing lies before, between or behind.
    """
    length = file.seek(0, 2)
    file.seek(max(0, length - struct.calcsize(END)))
    end = file.read()
    if len(end) < struct.calcsize(END) or not end.startswith(b"PK\5\6") or end[-2:] != bytes(2):
        raise PackageProblem(
            "the archive is not in the canonical form: something stands behind its end, or it has none"
        )
    _, _, _, _, count, size, begin, _ = struct.unpack(END, end)
    after = struct.calcsize(WIDE_END + LOCATOR[1:]) + struct.calcsize(END)
    if length > NARROW or count == 0xFFFF:
        file.seek(length - after)
        record = struct.unpack_from(WIDE_END, file.read(after))
        count, size, begin = record[7:] if record[0] == b"PK\6\6" else (count, size, begin)
    if size > most:
        raise PackageProblem(f"the directory is larger than {most >> 20} MB")
    file.seek(begin)
    directory = file.read(size)
    found, again, place, start = {}, [], 0, 0
    while place < size:
        values = struct.unpack_from(ENTRY, directory, place)
        system, method, crc, packed, unpacked = values[2], *(values[i] for i in (5, 8, 9, 10))
        more = place + struct.calcsize(ENTRY)
        name = directory[more : more + values[11]].decode("ascii", "replace")
        if unpacked == ALL_ONES:
            unpacked, packed = struct.unpack_from("<2Q", directory, more + values[11] + 4)
        file.seek(start + 4)
        wide = file.read(1) == bytes([WIDE])
        member = ZipMember(name, method, crc, unpacked, packed, wide, system)
        known = system in (0, 3) and method in (STORED, DEFLATED) and name.isascii()
        if not known or name in found:
            raise PackageProblem("the archive is not in the canonical form: a member is not of it")
        found[name] = member, start
        again.append(directory_entry(member, start))
        place += len(again[-1])
        start += len(local_header(member)) + packed
    again.append(directory_end(len(found), size, start))
    file.seek(begin)
    if begin != start or b"".join(again) != file.read(2 * most + after):
        raise PackageProblem(
            "the archive is not as the owner's program writes it; ask for the file as it was published"
        )
    return found


def unpacked(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what `blocks` unpack to; they must end where their last part ends."""
    unpacker = zlib.decompressobj(-15)
    for packed in blocks:
        more, block = packed, b""
        while more or len(block) == BLOCK:
            block = unpacker.decompress(more, BLOCK)
            more = unpacker.unconsumed_tail
            yield block
    if not unpacker.eof or unpacker.unused_data:
        raise PackageProblem("a member is not packed as the owner's program packs it")


MOST_READS, MOST_HELD = 200_000_000, 4_000_000
"""For each gigabyte of the limit: rows, once for each sum or group of a rule, and sums and labels that are held."""


def check_work(
    manifest: dict[str, Any], members: dict[str, tuple[ZipMember, int]], gigabytes: int
) -> None:
    """Require that sums, facts and rules ask for no more work than the limit allows, before a row is read.

    Guarantee: what is read is in proportion to `gigabytes`, and so is the number of sums and labels that are held,
        whatever the manifest says. Two measures of tables agree once, as the owner's program writes it.
    """
    tables, pairs, links = manifest["tables"], set(), set()
    sides = [fact["side"] for fact in manifest["facts"]]
    for agreement in manifest["agreements"]:
        both = agreement["left"], agreement["right"]
        pair = frozenset((side["table"], side["measure"]) for side in both)
        if len(pair) != len(both) or pair in pairs:
            raise PackageProblem("two tables are said to agree more than once")
        pairs.add(pair)
        sides += both
    asked = [(side["table"], 1 + len(side["only"])) for side in sides]
    asked += [
        (rule["table"], 1 + len(group)) for rule in manifest["rules"] for group in rule["cells"]
    ]
    reads, held = sum(tables[name]["rows"] * count for name, count in asked), 0
    for side in sides:
        table = tables[side["table"]]
        values = {key["name"]: len(key["values"]) for key in table["keys"]}
        held += min(table["rows"], math.prod(values[link["key"]] for link in side["by"]))
        links |= {each["mapping"] for each in (*side["by"], *side["only"])}
    links |= {
        one["mapping"] for rule in manifest["rules"] for group in rule["cells"] for one in group
    }
    held += sum(members[f"mappings/{name}.csv"][0].size // 4 for name in links - {None})
    if reads > MOST_READS * gigabytes or held > MOST_HELD * gigabytes:
        raise PackageProblem(
            f"its agreements, facts and rules ask for {reads:,} comparisons and {held:,} sums, more than the "
            f"{gigabytes} GB to which checks are limited allow; raise the limit with --max-gb"
        )
