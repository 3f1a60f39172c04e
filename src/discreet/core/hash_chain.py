"""A hash chain: each link's hash is over the one before it, so that none can change, go or move unseen."""

from __future__ import annotations

import hashlib
import json
from typing import Any

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
