"""The red team: attacks on everything that is released, and audits of our own mechanisms.

Each attack is a file, and a line in `attacks`. `discreet.attack(NAME)` runs one.

Imported by: cli, lab/course, server, tasks.
"""

from discreet.base.packages import make_callable

make_callable(__name__, "attack")
