"""Where private rows and answers lie at rest, and the refusal of a place that nothing encrypts.

Guarantee: where `[storage] encrypted = true` is declared, a catalog is opened only if the state folder, the
    ledger's file, every source that is a file of this machine, and swap lie on something that encrypts them, as far
    as the system tells, or the operator has vouched for what it cannot tell. It says nothing about who may read the
    files while the machine runs.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from discreet.catalog.catalog import Catalog
from discreet.engine.kinds import kind_of
from discreet.engine.volumes import AtRest, HostSystem, Volume
from discreet.errors import CatalogError

_GOOD = (AtRest.ENCRYPTED, AtRest.MEMORY)


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """One place that holds something private: what it is, where, and what it lies on."""

    what: str
    path: str
    volume: Volume

    @property
    def good(self) -> bool:
        """Return whether nothing of it can be read from a disk that was taken away."""
        return self.volume.rest in _GOOD


def places_of(catalog: Catalog, system: HostSystem | None = None) -> tuple[StoredPlace, ...]:
    """Return every place of this machine that holds rows, answers or charges."""
    seen = system or HostSystem()
    wanted: list[tuple[str, Path]] = [("state folder", catalog.state_folder)]
    scheme, _, rest = catalog.ledger_url.partition(":")
    if scheme == "sqlite":
        wanted.append(("ledger", catalog.base / (rest or "ledger.db")))
    else:  # its head and checkpoints: what was asked about, and by whom, though no answer
        wanted.append(("ledger's checkpoints", catalog.base))
    kind = kind_of(catalog.engine_url)
    if database := kind.database(catalog.engine_url):
        wanted.append(("database", catalog.base / database))
    if kind.leaves is not None:
        wanted.append((kind.leaves, Path(tempfile.gettempdir())))
    if kind.files:
        # Of a pattern the folder before it.
        sources = sorted({each for each in catalog.sources.values() if "://" not in each})
        wanted += [("source", catalog.base / _before_pattern(each)) for each in sources]
    found = [StoredPlace(what, str(path), seen.volume_of(path)) for what, path in wanted]
    return (*found, *(StoredPlace("swap", path, volume) for path, volume in seen.swaps()))


def check_storage(catalog: Catalog, system: HostSystem | None = None) -> None:
    """Refuse to open a catalog that must lie encrypted and does not."""
    if not catalog.storage.encrypted or catalog.storage.vouched:
        return
    for place in places_of(catalog, system):
        if not place.good:
            raise CatalogError(
                f"[storage] asks for encryption, and the {place.what} ({place.path}) lies on {place.volume.how}.",
                hint='Put it on an encrypted volume, or write vouched = "who encrypts it below this system". '
                "`discreet storage` shows every place.",
            )


def _before_pattern(source: str) -> str:
    pieces = source.partition("#")[0].split("/")
    first = next((i for i, p in enumerate(pieces) if any(c in p for c in "*?[")), len(pieces))
    return "/".join(pieces[:first]) or "."
