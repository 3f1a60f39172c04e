"""The command line: a file for each command or those that belong together, imported when one runs.

Imported by: __main__.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run `discreet`; a user's mistake ends with one clear line and exit status 1."""
    # Modules live as long as their command: there is no garbage among them to look for while it starts.
    gc.set_threshold(50_000, 20, 50)
    from discreet.cli.app import run

    sys.exit(run(sys.argv[1:]))
