"""Permits and hash chains: proof that a look was entered in the ledger, and that no entry was changed.

A permit is proof that a look at private rows is durably in the ledger, which alone makes one. In a hash chain each
link's hash is over the one before it, so that none can change, go or move unseen.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn, final

_MINT = object()


def _refuse(*_: object) -> NoReturn:
    raise TypeError(
        "A permit comes from the ledger of this process; it is not made, copied or sent."
    )


@final
class Permit:
    """The entry of a ledger that stands for a look, and the dataset that it is about.

    Guarantee: there is none without an entry that was durable first: a charge whose computing has
        begun (`Outcomes.take`, once for each charge), the owner's look or an exposure
        (`Ledger.record_look`, `record_exposure`). To construct, subclass, copy or pickle one raises,
        also under `python -O`; so a child process charges for itself. `permit_for` is the only way
        in, and an architecture test lists who may import it. What it proves is that *something* about
        this dataset was entered, not that it covers what is read with it: that the SQL is the one
        that was priced is for the kernel to see (`discreet.privacy.kernel.seal`), and that there is no second
        look for `once` (`discreet.ask.release.outcome`). Nor does it withstand whoever reaches for names
        with an underscore: it keeps mistakes out, not attackers inside this process.
    """

    __slots__ = ("__dataset", "__entry", "__mint")

    def __init__(self, dataset: str, entry: str, *, mint: object = None) -> None:
        if mint is not _MINT:
            _refuse()
        self.__dataset = dataset
        self.__entry = entry
        self.__mint = mint

    def __init_subclass__(cls) -> None:
        _refuse()

    @property
    def dataset(self) -> str:
        """Return whose rows may be read."""
        return self.__dataset

    @property
    def entry(self) -> str:
        """Return the hash of the ledger's entry, which is that of no other."""
        return self.__entry

    def __repr__(self) -> str:
        return f"Permit({self.__dataset!r}, {self.__entry!r})"

    __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse


def permit_for(dataset: str, entry: str) -> Permit:
    """Return the permit of an entry that is durable: for the ledger, and nobody else."""
    return Permit(dataset, entry, mint=_MINT)


def require_permit(permit: object) -> Permit:
    """Return what is a permit, or raise: a receipt, a name or a hand-made twin is none."""
    # A twin from object.__new__ has no mint to show.
    if type(permit) is not Permit or getattr(permit, "_Permit__mint", None) is not _MINT:
        raise TypeError("A charge comes before a look: only a permit of the ledger opens rows.")
    return permit


ROOT = "0" * 64
"""What the first link names as its predecessor."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def canonical(data: dict[str, Any]) -> str:
    r"""Return the one text that stands for `data`: sorted keys, no spaces, plain ASCII.

    >>> canonical({"b": 1, "a": "é"})
    '{"a":"\\u00e9","b":1}'
    """
    return _ENCODER.encode(data)


def link_hash(before: str, content: bytes) -> str:
    """Return the hash of a link; `before` is its predecessor's hash, with what else it is bound to.

    Guarantee: different pairs have different texts, if no `before` of a chain is the beginning of another
        one and a line break: it has a fixed number of lines. SHA-256 has no known collisions.
    """
    return hashlib.sha256(before.encode() + b"\n" + content).hexdigest()
