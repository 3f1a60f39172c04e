"""Planning noise for all marginals of a table at once, from the sizes of its columns alone.

Reads no data and costs nothing. It is for whoever plans by hand: no command needs it.
"""

from discreet.publish.workload.marginals import MarginalPlan, plan_marginals

__all__ = ["MarginalPlan", "plan_marginals"]
