"""Publishing: many counts and sums as one batch, one price and one signed package.

What a release holds stands in `contents`; the folders measure, reconcile, write and verify it. The
curator, the server and the command import from here; nothing below does.
"""

from discreet.core.machine.callable_package import make_callable

make_callable(__name__)
