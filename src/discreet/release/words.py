"""Mechanisms in words."""

from __future__ import annotations

from discreet.core.numbers import plain
from discreet.noise.laws import LaplaceLaw
from discreet.plan.plan import Plan


def mechanism_words(plan: Plan) -> tuple[str, ...]:
    """Return one sentence for each mechanism of the plan."""
    question, chosen = plan.question, plan.mechanisms
    lines = []
    for name, measure in question.measured.measures:
        law = chosen.laws[name]
        moved = question.stability.l1(measure)
        if isinstance(law, LaplaceLaw):
            noise = f"discrete Laplace noise of scale {plain(law.scale, significant=6)}"
        else:
            sigma = float(law.sigma_squared) ** 0.5
            noise = f"discrete Gaussian noise of standard deviation {sigma:.6g}"
        share = plain(chosen.epsilons[name], significant=6)
        unit = "" if measure.step == 1 else f" steps of {plain(measure.step)}"
        lines.append(
            f"{measure.kind.value}: {noise}, one unit moves it by {moved:,}{unit} ({share})"
        )
    lines += [
        f"quantile {plain(selection.choice.quantile)}: exponential mechanism over "
        f"{selection.bins:,} public values ({plain(selection.epsilon, significant=6)})"
        for selection in chosen.selections.values()
    ]
    if chosen.threshold is not None:
        lines.append(f"groups appear from {chosen.threshold:,} noisy units on")
    if question.stability.enforced:
        lines.append(f"at most {question.stability.max_rows:,} rows of each unit count")
    return tuple(lines)
