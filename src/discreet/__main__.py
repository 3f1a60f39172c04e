"""`python -m discreet` is the command `discreet`."""

from __future__ import annotations

from discreet.cli import main

if __name__ == "__main__":
    main()
