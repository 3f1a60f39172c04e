"""What each dataset has spent and has left: plain values, as JSON has them, that also show themselves."""

from __future__ import annotations

from typing import Any

from discreet.core.display.lines import ShownInLines, ShownLines


class BudgetReport(ShownInLines, dict[str, Any]):
    """The mapping of a budget report; prints a line for each dataset.

    >>> spent = {"epsilon": {"limit": 4.0, "spent": 1.0, "left": 3.0}, "charges": 2}
    >>> BudgetReport(datasets={"census": spent})
    census       epsilon 1 of 4 spent, 3 left; charges 2
    """

    __slots__ = ()

    def lines(self) -> ShownLines:
        """Return a line for each dataset, and one for each whose columns left it without a guarantee."""
        found = []
        for name, facts in self["datasets"].items():
            epsilon = facts["epsilon"]
            said = (
                f"epsilon {epsilon['spent']:.6g} of {epsilon['limit']:.6g} spent, "
                f"{epsilon['left']:.6g} left; charges {facts['charges']}"
            )
            alert = facts.get("alert")
            found.append((name, said if alert is None else f"{said}; {alert}"))
            if facts.get("exposures"):
                found.append((name, f"releases without a guarantee: {facts['exposures']}"))
        return found or [("budget", "no dataset is declared yet")]
