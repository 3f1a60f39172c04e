"""Running totals over time: every day's total, for little more noise than one day's count.

`factor` is the mathematics; publish/ and above may import it.
"""

from discreet.publish.totals.factor import RunningTotals, running_totals

__all__ = ["RunningTotals", "running_totals"]
