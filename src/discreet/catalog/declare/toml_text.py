"""TOML values as text: the few kinds that discreet.toml needs, quoted so that they read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

from discreet.catalog.declare.proposal import Setting
from discreet.errors import InvalidInput

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]')
TomlValue: TypeAlias = Setting | Fraction | Mapping[str, "TomlValue"]
"""What can be written: a setting, an exact amount, or a table of such in one line."""
WrittenTable: TypeAlias = Mapping[str, TomlValue]
LINE = 96
MAX_DIGITS = 60


def key(name: str) -> str:
    """Return `name` as a key: bare where TOML allows it, quoted otherwise."""
    return name if _BARE_KEY.fullmatch(name) else text(name)


def text(value: str) -> str:
    """Return `value` as a basic string; everything that does not print is escaped."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "A name or value contains half a character (a lone surrogate)."
        ) from None
    return '"' + _UNSAFE.sub(_escaped, value) + '"'


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    return _ESCAPES.get(letter) or f"\\u{ord(letter):04X}"


def number(value: Decimal | Fraction) -> str:
    """Return a decimal number that reads back exactly; a fraction must be a finite decimal."""
    exact = _finite_decimal(value) if isinstance(value, Fraction) else value
    if not -12 < exact.adjusted() < 18:
        return str(exact)
    whole, _, part = format(exact, "f").partition(".")
    return f"{whole}.{part.rstrip('0') or '0'}"


def _finite_decimal(value: Fraction) -> Decimal:
    with localcontext(prec=MAX_DIGITS):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(exact) != value:
            raise InvalidInput(f"{value} has no short decimal form; write it as a decimal.")
        return exact.normalize()


def value(setting: TomlValue) -> str:
    """Return one setting as TOML."""
    if isinstance(setting, bool):
        return "true" if setting else "false"
    if isinstance(setting, int):
        return str(setting)
    if isinstance(setting, Decimal | Fraction):
        return number(setting)
    if isinstance(setting, str):
        return text(setting)
    if isinstance(setting, tuple):
        return _array([text(item) for item in setting])
    if isinstance(setting, Mapping):
        return inline_table(setting)
    return setting.isoformat()  # a local date or date-time of TOML


def _array(items: list[str]) -> str:
    joined = ", ".join(items)
    if len(joined) <= LINE - 30:
        return f"[{joined}]"
    lines, current = [], ""
    for item in items:
        if current and len(current) + len(item) + 2 > LINE - 4:
            lines.append(current)
            current = ""
        current += f"{item}, "
    lines.append(current)
    return "[\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "]"


def inline_table(settings: WrittenTable) -> str:
    """Return `{ type = "integer", lower = 0 }`."""
    pairs = ", ".join(f"{key(name)} = {value(setting)}" for name, setting in settings.items())
    return f"{{ {pairs} }}"


def comment(words: str) -> list[str]:
    """Return comment lines; whatever would end a line or not print becomes a space."""
    clean = "".join(letter if letter.isprintable() else " " for letter in words)
    lines, current = [], "#"
    for word in clean.split():
        if len(current) + len(word) >= LINE and current != "#":
            lines.append(current)
            current = "#"
        current += f" {word}"
    return [*lines, current]
