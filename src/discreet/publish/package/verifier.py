"""verify.py as it lies in a package: the stand-alone verifier, with all laws of the registry in its table."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from discreet.noise.laws.registry import LAWS

_TABLE = re.compile(rb"^LAWS = .*$", re.MULTILINE)


def moves() -> dict[str, str]:
    """Return the name of what a unit moves at most, law by law, as manifests write it."""
    return {name: "l2_squared" if law.concentrated else "l1" for name, law in sorted(LAWS.items())}


def verifier() -> bytes:
    """Return the file; for laws that its own table has, it is the one of the source."""
    text = files("discreet.publish").joinpath("verify.py").read_bytes()
    return _TABLE.sub(f"LAWS = {json.dumps(moves())}".encode(), text, count=1)
