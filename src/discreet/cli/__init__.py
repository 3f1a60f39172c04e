"""The command line: one file for each command, imported only when that command runs."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run `discreet`; a user's mistake ends with one clear line and exit status 1."""
    # Modules live as long as their command: to look among them for garbage is a tenth of its start.
    gc.set_threshold(50_000, 20, 50)
    from discreet.cli.app import run

    sys.exit(run(sys.argv[1:]))
