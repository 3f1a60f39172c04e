"""The command line: one file for each command, imported only when that command runs."""

from __future__ import annotations

import sys


class _NoPandas:
    """Finds no pandas: Arrow imports it wherever it is installed, which takes a third of a second."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def main() -> None:
    """Run `discreet`; a user's mistake ends with one clear line and exit status 1."""
    from discreet.cli.app import run

    if sys.argv[1:2] == ["init"]:  # others may run code that needs it
        sys.meta_path.insert(0, _NoPandas)
    sys.exit(run(sys.argv[1:]))
