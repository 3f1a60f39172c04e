"""Lower bounds on epsilon of any mechanism, measured from its outputs alone.

The command is `discreet audit`.

Imported by: tasks.
"""

from discreet.base.packages import make_callable

make_callable(__name__)
