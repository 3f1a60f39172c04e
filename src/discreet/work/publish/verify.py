"""Checks a release package without the data: python verify.py RELEASE.zip [--key KEY] [--json].

This one file needs nothing but Python's standard library, and a copy of it lies in every package. It
checks that the file is the one that the owner signed, that the price follows from the noise, that the
charge is in the ledger's excerpt, and that scales, sums, exact facts and rules hold. What it cannot
prove is said in CANNOT_PROVE. `discreet verify` does the same, and adds the tighter price by PLD.

Guarantee: for each signed manifest there is one file that is valid, byte for byte: the directory and
    the headers are written anew from what was read and compared, and every other byte is signed. So all
    programs that read zip files show the same members. Nothing is unpacked before its size is known to
    be within the limit, and the bytes to be those that the manifest names. (Packages of EARLIER versions:
    the packed bytes are not signed, what they unpack to is.)
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from discreet.work.publish.zip_form import (
    BLOCK,
    DEFLATED,
    NAME,
    SIGNED,
    STORED,
    PackageProblem,
    canonical_member,
    check_work,
    local_header,
    read_directory,
    unpacked,
)

FORMAT, EARLIER = "discreet-release/2", "discreet-release/1"
EARLIER_FORM = f"of the earlier form, {EARLIER}: packed bytes are not signed, their content is"
GIGABYTE = 1 << 30
LARGEST = 2
"""Gigabytes that a package may hold unpacked, unless a larger limit is given."""
MANIFEST_SHARE = 32
"""A manifest and a directory may each hold this part of the limit: 64 MB of 2 GB."""
PACKED_SHARE = 16
"""The part of that for what is packed: the ledger's excerpt, manifests of earlier versions. A few KB unpack to it."""
LONGEST_ROW, MOST_BITS = 1 << 20, 400_000
CANNOT_PROVE = (
    "that the noise was honestly drawn, and from the rows that were described",
    "that the excerpt of the ledger is complete: other releases may have been charged elsewhere",
    "that the snapshot held the right rows, or each person only once",
)

# Ed25519 (RFC 8032), verification only: extended coordinates on -x^2 + y^2 = 1 + d x^2 y^2.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int, int, int]


def _add(one: Point, two: Point) -> Point:
    a = (one[1] - one[0]) * (two[1] - two[0]) % P
    b = (one[1] + one[0]) * (two[1] + two[0]) % P
    c = 2 * one[3] * two[3] * D % P
    d = 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(count: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while count:
        if count & 1:
            total = _add(total, point)
        point = _add(point, point)
        count >>= 1
    return total


def _point(data: bytes) -> Point | None:
    """Return the point of 32 bytes; None for bytes that are not the one spelling of a point."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P


def _bytes(point: Point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
SMALL = 8


def signed_by(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether `signature` is this key's Ed25519 signature of `message`.

    Strict: one spelling of every point and number, and no key of small order, so that a signature
    cannot be changed into another valid one by anybody but the key's owner.
    """
    if len(key) != 32 or len(signature) != 64 or BASE is None:
        return False
    owner, scalar = _point(key), int.from_bytes(signature[32:], "little")
    if owner is None or scalar >= ORDER or _bytes(_times(SMALL, owner)) == _bytes((0, 1, 1, 0)):
        return False
    challenge = hashlib.sha512(signature[:32] + key + message).digest()
    h = int.from_bytes(challenge, "little") % ORDER
    negated = P - owner[0], owner[1], owner[2], P - owner[3]
    return _bytes(_add(_times(scalar, BASE), _times(h, negated))) == signature[:32]


def number(text: Any) -> Fraction:
    """Return an exact amount as the manifest spells it: digits, or two numbers and a slash."""
    shape = "-?[0-9]{1,999}(/[1-9][0-9]{0,998})?"
    if not isinstance(text, str) or not re.fullmatch(shape, text) or str(Fraction(text)) != text:
        raise PackageProblem("an amount is not a plain number")
    return Fraction(text)


def whole(text: str) -> int:
    """Return a whole number that is spelled as numbers are: no signs, zeros or digits but the usual."""
    found = int(text)
    if str(found) != text:
        raise PackageProblem("a number is not spelled as numbers are")
    return found


def decimal(text: str) -> float:
    """Return a positive number that is spelled with the fewest digits, as the owner's program spells it."""
    found = float(text)
    if math.isfinite(found) and found > 0:
        exact = Decimal(repr(found)).normalize()
        power, digits = exact.adjusted(), "".join(map(str, exact.as_tuple().digits))
        point = f"{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}"
        if text == (f"{exact:f}" if -7 < power < 10 else f"{point}e{power:+d}"):
            return found
    raise PackageProblem("a number is not spelled as numbers are")


def _no_fraction(text: str) -> float:
    raise PackageProblem(f"{text[:20]} is not a whole number")


def plain_json(
    text: bytes, *, fractions: Callable[[str], float] = _no_fraction, **spelling: Any
) -> Any:
    """Return what a JSON text says; written anew it must be the same text: no name twice, no odd numbers."""
    decoded = text.decode()
    found, place = json.loads(decoded, parse_float=fractions), 0
    for part in json.JSONEncoder(allow_nan=False, **spelling).iterencode(found):
        if not decoded.startswith(part, place):
            break
        place += len(part)
    if decoded[place:] not in ("", "\n"):
        raise PackageProblem("a JSON text is not spelled as the owner's program spells it")
    return found


class Package:
    """An opened package: its manifest, and its members as streams of bytes or rows."""

    def __init__(self, file: IO[bytes], laws: dict[str, str], gigabytes: int = LARGEST) -> None:
        self.file, self.laws, self.gigabytes = file, laws, gigabytes
        self.most = gigabytes * GIGABYTE // MANIFEST_SHARE
        self.members = read_directory(file, self.most)
        self.signed, self.signature = (self.small(name) for name in SIGNED)
        self.archive = zipfile.ZipFile(file)
        self.mappings: dict[str, dict[str, str]] = {}

    def small(self, name: str) -> bytes:
        """Return the content of a member that is kept in memory, and limited for that."""
        if name not in self.members:
            raise PackageProblem(f"{name} is missing")
        member, _ = self.members[name]
        most = self.most if member.method == STORED else self.most // PACKED_SHARE
        if member.size > most:
            raise PackageProblem(
                f"{name} holds more than {most >> 20} MB; raise the limit with --max-gb"
            )
        return b"".join(self.content(name))

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Return what was signed; only manifests of the earlier form are packed."""
        packed = any(self.members[name][0].method == DEFLATED for name in SIGNED)
        if packed and not self.signed.startswith(b'{\n "format": "%b"' % EARLIER.encode()):
            raise PackageProblem("the manifest is not packed as the owner's program packs it")
        found: dict[str, Any] = plain_json(self.signed, indent=1, ensure_ascii=False)
        if found.get("format") not in (FORMAT, EARLIER):
            raise PackageProblem(f"the manifest is not of the format {FORMAT}")
        return found

    @property
    def earlier(self) -> bool:
        """Return whether an earlier version wrote the package, which left it to zlib how to pack."""
        return bool(self.manifest["format"] == EARLIER)

    def packed(self, name: str) -> Iterator[bytes]:
        """Yield the packed bytes of a member, from where they lie in the file."""
        member, start = self.members[name]
        place, left = start + len(local_header(member)), member.packed
        while left:
            self.file.seek(place)
            block = self.file.read(min(left, BLOCK))
            place, left = place + len(block), left - len(block)
            if not block:
                raise PackageProblem(f"{name} ends too early")
            yield block

    def content(self, name: str) -> Iterator[bytes]:
        """Yield the content of a member; its header, size and CRC must be those of the directory."""
        member, start = self.members[name]
        self.file.seek(start)
        header = local_header(member)
        same, crc, size = self.file.read(len(header)) == header, 0, 0
        blocks = self.packed(name)
        for block in blocks if member.method == STORED else unpacked(blocks):
            crc, size = zlib.crc32(block, crc), size + len(block)
            if size > member.size:
                break
            yield block
        if not same or size != member.size or crc != member.crc:
            raise PackageProblem(f"{name} is not what the archive's headers say")

    def rows(self, name: str, columns: list[str], most: float = math.inf) -> Iterator[list[str]]:
        """Yield the rows of a CSV member below its header, which must be `columns`; at most `most`.

        The member must be spelled as the owner's program spells it, so that all programs read the same.
        """
        with self.archive.open(name) as stream:
            lines = _rows(stream, name)
            if next(lines, None) != columns:
                raise PackageProblem(f"{name} does not have the columns {', '.join(columns)}")
            for count, line in enumerate(lines):
                if len(line) != len(columns) or count >= most:
                    raise PackageProblem(f"{name} has a row too many, or of {len(line)} fields")
                yield line


def _rows(stream: IO[bytes], name: str) -> Iterator[list[str]]:
    """Yield the rows of a CSV text; it must be spelled as the owner's program spells it."""
    rest, lines_of_row, length, odd = b"", list[str](), 0, False
    while len(rest) + length < LONGEST_ROW and (block := stream.read(BLOCK)):
        ended, newline, rest = (rest + block).rpartition(b"\n")
        text = ended.decode()
        special = odd or '"' in text or "\r" in text
        for line in text.split("\n") if newline else ():
            if not special:
                fields = line.split(",")
                same = "" not in fields
            else:
                # A row goes on while its quotes are odd: its lines are put together once, at its end.
                lines_of_row.append(line)
                length += len(line) + 1
                odd ^= line.count('"') % 2 == 1
                if odd:
                    continue
                row = "\n".join(lines_of_row)
                lines_of_row, length = [], 0
                fields = next(csv.reader(io.StringIO(row, newline=""), strict=True), [])
                same = ",".join(map(_field, fields)) == row
            if not same:
                raise PackageProblem(f"{name} is not spelled as the owner's program spells it")
            yield fields
    if rest or odd:
        raise PackageProblem(f"{name} is not spelled as the owner's program spells it")


def _field(text: str) -> str:
    quoted = '""'.join(text.split('"'))
    return f'"{quoted}"' if not text or any(c in text for c in '",\r\n') else text


def check_members(package: Package) -> None:
    """Require the members that the manifest names, in its order and no others, byte for byte."""
    listed: dict[str, Any] = package.manifest["members"]
    found = [name for name in package.members if name not in SIGNED]
    for name in sorted(set(found) ^ set(listed)):
        raise PackageProblem(f"{name} is {'missing' if name in listed else 'not in the manifest'}")
    if len({name.lower() for name in found}) != len(found) or not all(map(NAME.fullmatch, found)):
        raise PackageProblem("a member has a name that no package has")
    sizes = [facts["bytes"] for facts in listed.values()]
    if any(type(size) is not int or size < 0 for size in sizes):
        raise PackageProblem("a size is not a plain number")
    if sum(sizes) > package.gigabytes * GIGABYTE:
        raise PackageProblem(
            f"the package holds {sum(sizes) / GIGABYTE:.1f} GB, more than the {package.gigabytes} GB "
            "to which checks are limited; raise the limit with --max-gb"
        )
    if not package.earlier:
        _check_form(package, found)
    for name in found:
        digest = hashlib.sha256()
        if package.members[name][0].size == listed[name]["bytes"]:
            for block in package.content(name):
                digest.update(block)
        if digest.hexdigest() != listed[name]["sha256"]:
            raise PackageProblem(f"{name} is not what was signed")


def _check_form(package: Package, found: list[str]) -> None:
    """Require the one form that signed members have, before anything is unpacked."""
    listed = package.manifest["members"]
    for member, _ in package.members.values():
        if member != canonical_member(member.name, member.crc, member.size, member.packed):
            raise PackageProblem(f"{member.name} is not packed as the owner's program packs it")
    if list(package.members) != [*listed, *SIGNED]:
        raise PackageProblem("the members are not in the order of the manifest")
    for name in found:
        if package.members[name][0].method == DEFLATED:
            digest = hashlib.sha256()
            for block in package.packed(name):
                digest.update(block)
            if digest.hexdigest() != listed[name]["packed_sha256"]:
                raise PackageProblem(f"{name} is not what was signed")


def check_signature(package: Package, key: bytes | None) -> None:
    """Require the owner's signature over the manifest, by `key` or else by the key inside.

    With a key nothing of the manifest is read before its signature holds.
    """
    owner = bytes.fromhex(package.manifest["key"]) if key is None else key
    if not signed_by(owner, package.signed, package.signature):
        if key is None:
            raise PackageProblem("the signature is not the key's signature of the manifest")
        raise PackageProblem("it is signed by another key, or was changed after it was signed")
    if package.manifest["key"] != owner.hex():
        raise PackageProblem("the key that the manifest names is another key")


LAWS = {"gaussian": "l2_squared", "laplace": "l1"}
"""What one person moves at most, by the law of the noise; written anew in every package."""
SIZES = {"l1": "scale", "l2_squared": "sigma_squared"}


def noise_of(package: Package, event: dict[str, Any]) -> tuple[bool, Fraction, Fraction]:
    """Return whether a noisy vector is counted in squares, its noise's size, and a person's move over it."""
    name = package.laws.get(event["law"])
    if name is None:
        raise PackageProblem("a noise law is unknown")
    moved, size = number(event[name]), number(event[SIZES[name]])
    if moved < 1 or size <= 0 or type(event["cells"]) is not int or event["cells"] < 1:
        raise PackageProblem("noise is claimed for numbers that nobody can move")
    return name == "l2_squared", size, moved / size


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return the least epsilon that rho-zCDP gives at delta, over many orders [CKS20, Prop. 12]."""
    if not rho:
        return 0.0
    orders = (1 + math.exp(step / 50) for step in range(-500, 1000))
    log_delta = -math.log(delta)
    return min(
        max(0.0, a * rho + math.log1p(-1 / a) + (log_delta - math.log(a)) / (a - 1)) for a in orders
    )


def check_price(package: Package) -> str:
    """Require rho (or, at delta 0, epsilon) to be at least what the noise costs; return words."""
    events, privacy = package.manifest["events"], package.manifest["privacy"]
    noise = [noise_of(package, event) for event in events]
    named = {event["measurement"] for event in events}
    missing = {f"measurements/{name}.csv" for name in named} - package.members.keys()
    if missing or len(named) != len(events):
        raise PackageProblem("a noisy table that was paid for is missing, or there twice")
    epsilon, delta = number(privacy["epsilon"]), number(privacy["delta"])
    ratios = [ratio for _, _, ratio in noise]
    if sum(ratio.denominator.bit_length() for ratio in ratios) > MOST_BITS:
        raise PackageProblem("the noise is told in more digits than are added up")
    pure = None if any(squared for squared, _, _ in noise) else sum(ratios, Fraction(0))
    if not delta:
        if pure is None or pure > epsilon:
            raise PackageProblem("epsilon is below the sum of what the noisy tables cost")
        return f"epsilon {float(epsilon):.6g} is the sum over the noisy tables"
    rho = sum(((ratio if squared else ratio**2) / 2 for squared, _, ratio in noise), Fraction(0))
    if privacy["rho"] is None or number(privacy["rho"]) < rho:
        raise PackageProblem("rho is below the sum of what the noisy tables cost")
    proven = epsilon_of_rho(float(rho), float(delta))
    proven = proven if pure is None else min(proven, float(pure))
    words = f"rho {float(rho):.6g}, in zCDP epsilon {proven:.6g} at delta {float(delta):g}"
    if proven > float(epsilon) * (1 + 1e-9):
        words += f"; that epsilon {float(epsilon):.6g} holds by PLD is for `discreet verify`"
    return words


def check_ledger(package: Package) -> None:
    """Require the charge, with this price, among unbroken lines of the ledger's history."""
    excerpt = plain_json(package.small("ledger.json"), indent=1)
    before, charge = None, None
    for link in excerpt["links"]:
        text = f"{link['position']}\n{link['kind']}\n{link['previous']}\n{link['body']}"
        if hashlib.sha256(text.encode()).hexdigest() != link["hash"]:
            raise PackageProblem(f"entry {link['position']} of the ledger does not match its hash")
        if before is not None and link["position"] <= before["position"]:
            raise PackageProblem("the ledger's entries are not in order")
        next_one = before is not None and link["position"] == before["position"] + 1
        if before is not None and next_one and link["previous"] != before["hash"]:
            raise PackageProblem(
                f"entry {link['position']} of the ledger does not continue its chain"
            )
        charge = link if link["position"] == excerpt["charge"] else charge
        before = link
    if charge is None or charge["kind"] != "charge":
        raise PackageProblem("the charge is not in the ledger's excerpt")
    body = charge["body"].encode()
    paid = plain_json(body, fractions=float, sort_keys=True, separators=(",", ":"))
    privacy = package.manifest["privacy"]
    if paid["dataset"] != package.manifest["dataset"]:
        raise PackageProblem("the charge is about another dataset")
    for part in ("epsilon", "delta", "rho"):
        if paid["cost"][part] != privacy[part]:
            raise PackageProblem(f"the {part} that was charged is not the one that is claimed")


def check_scales(package: Package) -> None:
    """Require every noisy cell to stand beside the scale that was paid for, and all of them."""
    paid_for = {event["measurement"]: event for event in package.manifest["events"]}
    for name, facts in package.manifest["measurements"].items():
        seen: dict[str, int] = {}
        rows = package.manifest["tables"][facts["table"]]["rows"]
        columns = [*facts["keys"], "value", "scale"]
        for line in package.rows(f"measurements/{name}.csv", columns, rows):
            whole(line[-2])
            seen[line[-1]] = seen.get(line[-1], 0) + 1
        event = paid_for.pop(name, {})
        squared, size, _ = noise_of(package, event) if event else (False, Fraction(0), None)
        due = {_rounded(math.sqrt(size) if squared else float(size))}
        found = {_rounded(decimal(scale)) for scale in seen}
        if found != due or not sum(seen.values()) == rows == event["cells"]:
            raise PackageProblem(f"the scales of {name} are not those that were paid for")
    shown = {(n, m["name"]) for n, t in package.manifest["tables"].items() for m in t["measures"]}
    if shown != {(m["table"], m["measure"]) for m in package.manifest["measurements"].values()}:
        raise PackageProblem("a table is published without the noisy one that was paid for")
    if paid_for:
        raise PackageProblem("a noisy table that was paid for is missing")


_rounded = "{:.9g}".format


class CheckedSums:
    """One measure of one table, filtered and added up to named columns: both sides of a check."""

    def __init__(self, package: Package, side: dict[str, Any]) -> None:
        table = package.manifest["tables"][side["table"]]
        keys = [key["name"] for key in table["keys"]]
        names = [measure["name"] for measure in table["measures"]]
        self.value = len(keys) + 3 * names.index(side["measure"])
        self.by = [
            (keys.index(link["key"]), _pairs(package, link["mapping"])) for link in side["by"]
        ]
        self.names = [link["name"] for link in side["by"]]
        self.only = _filters(package, keys, side["only"])
        self.totals: dict[tuple[str, ...], int] = {}
        plain = len(self.by) > 1 and all(pairs is None for _, pairs in self.by)
        self.key: Callable[[list[str]], Any] = (
            itemgetter(*(i for i, _ in self.by)) if plain else self._mapped
        )

    def _mapped(self, line: list[str]) -> tuple[str, ...]:
        return tuple([line[i] if pairs is None else pairs[line[i]] for i, pairs in self.by])

    def add(self, line: list[str]) -> None:
        """Add one row of the table."""
        if not self.only or _passes(line, self.only):
            key = self.key(line)
            self.totals[key] = self.totals.get(key, 0) + int(line[self.value])


class Zeros:
    """Cells of one measure of one table that must be zero."""

    def __init__(self, package: Package, rule: dict[str, Any]) -> None:
        table = package.manifest["tables"][rule["table"]]
        keys = [key["name"] for key in table["keys"]]
        names = [measure["name"] for measure in table["measures"]]
        self.text = rule["text"]
        self.value = len(keys) + 3 * names.index(rule["measure"])
        self.groups = [_filters(package, keys, group) for group in rule["cells"]]

    def add(self, line: list[str]) -> None:
        """Require the rule of one row of the table."""
        if line[self.value] != "0" and any(_passes(line, group) for group in self.groups):
            raise PackageProblem(f"the rule {self.text} does not hold")


Filters = list[tuple[int, "dict[str, str] | None", set[str]]]


def _pairs(package: Package, name: str | None) -> dict[str, str] | None:
    if name is None:
        return None
    if name not in package.mappings:
        facts = package.manifest["mappings"][name]
        rows = package.rows(f"mappings/{name}.csv", [facts["fine"], facts["coarse"]])
        package.mappings[name] = {line[0]: line[1] for line in rows}
    return package.mappings[name]


def _filters(package: Package, keys: list[str], only: list[dict[str, Any]]) -> Filters:
    return [
        (keys.index(one["key"]), _pairs(package, one["mapping"]), set(one["values"]))
        for one in only
    ]


def _passes(line: list[str], only: Filters) -> bool:
    return all(
        (line[i] if pairs is None else pairs.get(line[i])) in values for i, pairs, values in only
    )


def check_tables(package: Package, readers: dict[str, list[CheckedSums | Zeros]]) -> None:
    """Require whole tables: every key known and once, in order, values within their intervals."""
    for name, table in package.manifest["tables"].items():
        measures = [measure["name"] for measure in table["measures"]]
        keys = [{v: i for i, v in enumerate(key["values"])} for key in table["keys"]]
        columns = [key["name"] for key in table["keys"]]
        columns += [f"{m}{end}" for m in measures for end in ("", "_low", "_high")]
        floors = [0 if m["non_negative"] else -math.inf for m in table["measures"]]
        cells = [(len(keys) + 3 * i, floor) for i, floor in enumerate(floors)]
        adds = [reader.add for reader in readers.get(name, ())]
        rows, last = 0, -1
        for line in package.rows(f"tables/{name}.csv", columns, table["rows"]):
            rank = 0
            for places, value in zip(keys, line):  # noqa: B905  # the line goes on
                rank = rank * len(places) + places[value]
            if rank <= last:
                raise PackageProblem(f"the rows of {name} are doubled or out of order")
            for at, floor in cells:
                if not floor <= whole(line[at + 1]) <= whole(line[at]) <= whole(line[at + 2]):
                    raise PackageProblem(f"a value of {name} lies outside its interval")
            for add in adds:
                add(line)
            last, rows = rank, rows + 1
        if rows != table["rows"]:
            raise PackageProblem(f"{name} does not have {table['rows']} rows")


def check_sums(package: Package) -> None:
    """Require everything that is about the published numbers: tables, sums, facts and rules."""
    check_work(package.manifest, package.members, package.gigabytes)
    readers: dict[str, list[CheckedSums | Zeros]] = {}

    def sums(side: dict[str, Any]) -> CheckedSums:
        made = CheckedSums(package, side)
        readers.setdefault(side["table"], []).append(made)
        return made

    agreements = package.manifest["agreements"]
    pairs = [(sums(each["left"]), sums(each["right"])) for each in agreements]
    facts = [(fact["name"], sums(fact["side"])) for fact in package.manifest["facts"]]
    for rule in package.manifest["rules"]:
        readers.setdefault(rule["table"], []).append(Zeros(package, rule))
    check_tables(package, readers)
    for left, right in pairs:
        if left.names != right.names or left.totals != right.totals:
            raise PackageProblem("two tables do not add up to the same numbers")
    for name, found in facts:
        for *key, value in package.rows(f"facts/{name}.csv", [*found.names, "value"]):
            if found.totals.get(tuple(key), 0) != whole(value):
                raise PackageProblem(f"the exact fact {name} does not hold")


CHECKS: tuple[tuple[str, Callable[..., str | None]], ...] = (
    ("signature", check_signature),
    ("members", check_members),
    ("price", check_price),
    ("ledger", check_ledger),
    ("scales", check_scales),
    ("sums", check_sums),
)


def verify(
    path: str,
    key: bytes | None = None,
    laws: dict[str, str] = LAWS,
    *,
    gigabytes: int = LARGEST,
    checks: Iterable[tuple[str, Callable[..., str | None]]] = CHECKS,
) -> dict[str, Any]:
    """Return what holds of the package at `path`: {"valid", "checks", "problems", ...}.

    A package that would hold more than `gigabytes` unpacked is not unpacked.
    """
    done: list[str] = []
    said: dict[str, Any] = {"valid": False, "checks": done, "problems": [], "notes": []}
    step = "archive"
    try:
        with Path(path).open("rb") as file:
            package = Package(file, laws, gigabytes)
            for step, check in checks:
                note = check(package, key) if check is check_signature else check(package)
                if check is check_signature:
                    said |= {
                        part: str(package.manifest[part]) for part in ("release", "key", "format")
                    }
                    said["trust"] = f"by the key {'inside' if key is None else 'that was given'}"
                    note = EARLIER_FORM if package.earlier else None
                done.append(step)
                said["notes"] += [note] if note else []
    except PackageProblem as problem:
        said["problems"].append(f"{step}: {problem}")
    except FileNotFoundError:
        said["problems"].append("archive: there is no such file")
    except UnicodeError:
        said["problems"].append(f"{step}: a text is not in the canonical form, which is UTF-8")
    except Exception as error:  # noqa: BLE001  # whatever cannot be read is the package's problem
        said["problems"].append(f"{step}: cannot be read ({type(error).__name__})")
    said["valid"] = not said["problems"]
    said["cannot_prove"] = list(CANNOT_PROVE)
    return said


def key_of(text: str) -> bytes:
    """Return the 32 bytes of a key that was written as 64 hexadecimal digits, or lies in a file."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        text = Path(text).read_text(encoding="ascii").strip()
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise ValueError
    return bytes.fromhex(text)


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def words(said: dict[str, Any]) -> Iterable[str]:
    """Yield the verdict in lines for a terminal; nothing in them can steer it."""
    name, key = (_visible(said.get(part, "")) for part in ("release", "key"))
    verdict = f"valid {said['trust']}" if said["valid"] else "NOT VALID"
    yield f"{name or 'package'}: {verdict}"
    yield from (f"  key {key}" for _ in key[:1])
    yield f"  checked: {', '.join(said['checks']) or 'nothing'}"
    for note in said["notes"]:
        yield f"  {note}"
    for problem in said["problems"]:
        yield f"  problem: {_visible(problem)}"
    yield "  not provable without the data:"
    yield from (f"    {sentence}" for sentence in said["cannot_prove"])


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 for a valid package, 1 for another, 2 for wrong usage."""
    rest = [a for a in arguments if a != "--json"]
    key, gigabytes = None, LARGEST
    for option in ("--key", "--max-gb"):
        if option in rest[:-1]:
            place = rest.index(option)
            text = rest[place + 1]
            try:
                key, gigabytes = (
                    (key_of(text), gigabytes) if option == "--key" else (key, _limit(text))
                )
            except (OSError, ValueError):
                wanted = "64 hexadecimal digits, or a file of them"
                wanted = wanted if option == "--key" else "a whole number of gigabytes, at least 1"
                sys.stderr.write(f"verify: {option} must be {wanted}\n")
                return 2
            del rest[place : place + 2]
    if len(rest) != 1 or rest[0].startswith("-"):
        sys.stderr.write("usage: python verify.py RELEASE.zip [--key KEY] [--max-gb GB] [--json]\n")
        return 2
    said = verify(rest[0], key, gigabytes=gigabytes)
    shown = [json.dumps(said)] if "--json" in arguments else words(said)
    sys.stdout.write("\n".join(shown) + "\n")
    return 0 if said["valid"] else 1


def _limit(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise ValueError
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
