"""`discreet.verify("RELEASE.zip")`: checks a published package without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.base.display import ShownInLines, ShownLines
from discreet.work.publish.recheck import verify_package


class CheckedPackage(ShownInLines, dict[str, Any]):
    """What `discreet verify --json` prints, as a mapping: `valid`, `checks`, `problems`, `notes` ..."""

    __slots__ = ()

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        verdict = f"valid {self['trust']}" if self["valid"] else "NOT VALID"
        checked = ", ".join(self["checks"]) or "nothing"
        problems = [("problem", str(each)) for each in self["problems"]]
        notes = [("note", str(each)) for each in self["notes"]]
        return [
            (str(self.get("release") or "package"), verdict),
            ("checked", checked),
            *problems,
            *notes,
        ]


def verify(package: str | Path, *, key: str | None = None, max_gb: int = 2) -> CheckedPackage:
    """Return what holds of a published package, without the data: signature, price, sums, facts and rules.

    `key` is the owner's public key, as 64 hexadecimal digits or a file that holds them. Without it the
    signature only says that the package is whole, by the key inside. A package of more than `max_gb` gigabytes,
    or whose manifest has more than a 32nd of them, is not unpacked.

    >>> discreet.verify("RELEASE.zip", key="KEY")["valid"]                  # doctest: +SKIP
    True
    """
    return CheckedPackage(verify_package(package, key=key, max_gb=max_gb))
