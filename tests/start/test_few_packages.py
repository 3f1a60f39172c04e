"""What an installation without extras can do: import, reconcile, and name what it lacks."""

import subprocess
import sys

HIDDEN = "import sys\nfor name in ('scipy', 'cryptography', 'fastapi', 'jax', 'pandas'):\n    sys.modules[name] = None\n"
PLAIN = """
import discreet
import discreet.curator
import discreet.cli.publish, discreet.cli.survey, discreet.cli.learn
found = discreet.reconcile({"t": 2005, "m": 1001, "f": 995}, {"t": 8, "m": 50, "f": 32}, ["t = m + f"])
assert round(found["t"], 1) == 2004.2, found
try:
    discreet.reconcile({"t": -5, "m": 1}, {"t": 8, "m": 50}, ["t = m"], non_negative=True)
except discreet.errors.MissingExtra as error:
    assert "scipy" in str(error)
else:
    raise SystemExit("scipy was there")
"""


def test_the_core_needs_no_extra():
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN + PLAIN], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
