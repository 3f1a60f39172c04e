"""Publishing: many counts and sums as one batch, one price and one signed package.

What a release holds stands in `contents`; other modules plan, measure, reconcile, write and verify it.

Imported by: cli, curator, discreet, lab, server, tasks.
"""

from discreet.base.packages import make_callable

make_callable(__name__)
