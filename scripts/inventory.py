"""What a release is made of: its bill of materials and everybody's licences.

`inventory.py FOLDER` writes `sbom.cdx.json` (CycloneDX 1.6) and `THIRD-PARTY-LICENSES.txt`. Which packages,
versions and hashes: `requirements-run.lock`, what `make run` and the bundle install. Who depends on whom and
under which licence: what the installed packages say of themselves. A package that is pinned and not
installed here, installed in another version, or silent about its licence ends this with a sentence:
a release never leaves with a hole in it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-run.lock"
# sqlglot's compiled part carries the licence of sqlglot, and no copy of its own.
TEXT_LIES_WITH = {"sqlglotc": "sqlglot"}
SPDX = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
}


class Hole(SystemExit):
    """Something that a release must say and that nobody said."""


@dataclass(frozen=True)
class Pinned:
    """One line of the lock, as it applies to this machine."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Return the name by which tools know it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def pinned(lock: str) -> list[Pinned]:
    """Return what the text of a lock installs here; lines for other systems are left out."""
    found = []
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock.strip()):
        line = Requirement(block.split("\\\n")[0].strip())
        if line.marker is None or line.marker.evaluate():
            (version,) = (each.version for each in line.specifier)
            hashes = tuple(re.findall(r"sha256:([0-9a-f]{64})", block))
            found.append(Pinned(canonicalize_name(line.name), version, hashes))
    return found


def installed(package: Pinned) -> importlib.metadata.Distribution:
    """Return the installed package, or end with a sentence where it is another one."""
    try:
        there = importlib.metadata.distribution(package.name)
    except importlib.metadata.PackageNotFoundError:
        raise Hole(f"{package.name} is pinned and not installed here: make setup") from None
    if there.version != package.version:
        raise Hole(f"{package.name} {package.version} is pinned, {there.version} is installed.")
    return there


def licence(there: importlib.metadata.Distribution) -> str:
    """Return the licence in SPDX's words."""
    said = there.metadata
    if said.get("License-Expression"):
        return str(said["License-Expression"])
    if re.fullmatch(r"[A-Za-z0-9.+-]{2,20}", said.get("License") or ""):
        return str(said["License"])
    for classifier in said.get_all("Classifier") or []:
        if classifier in SPDX:
            return SPDX[classifier]
    raise Hole(f"{said['Name']} {there.version} does not say its licence.")


def texts(there: importlib.metadata.Distribution) -> list[tuple[str, str]]:
    """Return the licence files of a package: (name, text)."""
    words = ("license", "licence", "copying", "notice")
    found = [
        (str(file), file.read_text(encoding="utf-8"))
        for file in there.files or []
        if ".dist-info/" in str(file) and any(word in file.name.lower() for word in words)
    ]
    if not found:
        name = canonicalize_name(there.metadata["Name"])
        if name not in TEXT_LIES_WITH:
            raise Hole(f"{name} {there.version} brings no text of its licence.")
        return texts(importlib.metadata.distribution(TEXT_LIES_WITH[name]))
    return found


def needs(
    there: importlib.metadata.Distribution, known: dict[str, str], extras: set[str]
) -> list[str]:
    """Return which of the known packages this one needs here with these extras, by their purls."""
    wanted = (Requirement(text) for text in there.requires or [])
    names = {
        canonicalize_name(each.name)
        for each in wanted
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    }
    return sorted(known[name] for name in names & known.keys())


def bill_of_materials(packages: list[Pinned], version: str, lock: bytes) -> dict[str, Any]:
    """Return the CycloneDX document of discreet with these packages; the same input, the same bytes."""
    known = {package.name: package.purl for package in packages}
    root = f"pkg:pypi/discreet@{version}"
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = [Requirement(line) for line in shipped["dependencies"]]
    for extra in ("fast", "plot", "server"):
        own += [Requirement(line) for line in shipped["optional-dependencies"][extra]]
    extras = {canonicalize_name(each.name): set(each.extras) for each in own if each.extras}
    direct = sorted({known[canonicalize_name(each.name)] for each in own})
    digest = hashlib.sha256(lock).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "serialNumber": f"urn:uuid:{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}",
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "discreet",
                "version": version,
                "purl": root,
                "licenses": [{"expression": shipped["license"]}],
            },
            "properties": [
                {"name": "discreet:lock-sha256", "value": digest},
                {
                    "name": "discreet:for",
                    "value": f"Python {'.'.join(platform.python_version_tuple()[:2])}, {sys.platform}, {platform.machine()}",
                },
            ],
        },
        "components": [
            {
                "type": "library",
                "bom-ref": package.purl,
                "name": package.name,
                "version": package.version,
                "purl": package.purl,
                "licenses": [{"expression": licence(installed(package))}],
                # One for each file that the lock admits: of every system, one of which is installed.
                "properties": [
                    {"name": "discreet:admitted-sha256", "value": digest}
                    for digest in package.hashes
                ],
            }
            for package in packages
        ],
        "dependencies": [
            {"ref": root, "dependsOn": direct},
            *(
                {
                    "ref": package.purl,
                    "dependsOn": needs(installed(package), known, extras.get(package.name, set())),
                }
                for package in packages
            ),
        ],
    }


def licences(packages: list[Pinned]) -> str:
    """Return all licence texts, one package after the other."""
    parts = ["Discreet stands on these packages. Each is used unchanged, under its own licence.\n"]
    for package in packages:
        there = installed(package)
        parts.append(f"{'=' * 80}\n{package.name} {package.version}: {licence(there)}\n")
        parts += [f"--- {name}\n{text.strip()}\n" for name, text in texts(there)]
    return "\n".join(parts)


def main(folder: Path) -> None:
    """Write both files into `folder`."""
    lock = LOCK.read_bytes()
    packages = pinned(lock.decode())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    folder.mkdir(parents=True, exist_ok=True)
    bill = bill_of_materials(packages, version, lock)
    (folder / "sbom.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    (folder / "THIRD-PARTY-LICENSES.txt").write_text(licences(packages), encoding="utf-8")
    print(f"{len(packages)} packages, all with a licence.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
