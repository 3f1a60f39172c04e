"""verify.py as it lies in a package: the stand-alone verifier, with all laws of the registry in its table."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from discreet.noise.laws.registry import LAWS

_TABLE = re.compile(rb"^LAWS = .*$", re.MULTILINE)
_IMPORT = re.compile(
    rb"^from discreet\.publish\.zip_form import \(.*?^\)$", re.MULTILINE | re.DOTALL
)
_HEAD = b"from __future__ import annotations\n"


def moves() -> dict[str, str]:
    """Return the name of what a unit moves at most, law by law, as manifests write it."""
    return {name: "l2_squared" if law.concentrated else "l1" for name, law in sorted(LAWS.items())}


def verifier() -> bytes:
    """Return the file: the source of the verifier, with what it imports from `zip_form` in its place."""
    text, form = (
        files("discreet.publish").joinpath(name).read_bytes()
        for name in ("verify.py", "zip_form.py")
    )
    text = _IMPORT.sub(lambda _: form.partition(_HEAD)[2].strip(), text, count=1)
    return _TABLE.sub(f"LAWS = {json.dumps(moves())}".encode(), text, count=1)
