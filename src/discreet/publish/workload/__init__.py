"""Planning noise for all marginals of a table at once, from the sizes of its columns alone.

Reads no data and costs nothing; publish/ and above may import it.
"""

from discreet.publish.workload.marginals import MarginalPlan, plan_marginals

__all__ = ["MarginalPlan", "plan_marginals"]
