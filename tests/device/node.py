"""Node for tests of the JavaScript device: the system's, or the one inside playwright."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import discreet.server

HERE = Path(__file__).resolve().parent
MODULE = Path(discreet.server.__file__).parent / "static" / "survey" / "device"


def node() -> str | None:
    """Return a node that starts here, or None."""
    driver = find_spec("playwright")
    inside = Path(driver.origin).parent / "driver" / "node" if driver and driver.origin else None
    for found in (shutil.which("node"), inside):
        if found and not subprocess.run([found, "-e", "0"], check=False).returncode:
            return str(found)
    return None


def run_node(script: str, given: dict):
    """Return what a script of this folder prints as JSON for `given`."""
    found = node()
    if found is None:
        pytest.skip("there is no node on this machine")
    sent = json.dumps({"module": str(MODULE), **given})
    done = subprocess.run(
        [found, HERE / script], input=sent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
