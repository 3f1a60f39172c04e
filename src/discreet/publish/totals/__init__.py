"""Running totals over time: every day's total, for little more noise than one day's count.

`factor` is the mathematics, `run` charges and looks.

Imported by: api.
"""

from discreet.publish.totals.factor import RunningTotals, running_totals
from discreet.publish.totals.request import TotalsRequest

__all__ = ["RunningTotals", "TotalsRequest", "running_totals"]
