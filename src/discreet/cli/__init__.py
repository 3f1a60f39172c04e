"""The command line: one file for each command, imported only when that command runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `discreet`; a user's mistake ends with one clear line and exit status 1."""
    from discreet.cli.app import run

    sys.exit(run(sys.argv[1:]))
