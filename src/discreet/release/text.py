"""A plan's mechanisms described in plain words."""

from __future__ import annotations

from discreet.core.numbers import plain
from discreet.kernel.mechanism import LargestGroup, Selection
from discreet.plan.measure import Choice
from discreet.plan.plan import Plan, PrivateGroups, PublicGroups
from discreet.release.bars.ranks import group_loss, rank_loss


def mechanism_words(plan: Plan) -> tuple[str, ...]:
    """Return one sentence for each mechanism of the plan."""
    question, chosen = plan.question, plan.mechanisms
    if chosen.top is not None:
        return (_top_words(chosen.top, question.groups),)
    lines = []
    for name, measure in question.measured.measures:
        law = chosen.laws[name]
        moved = question.stability.l1(measure.bound)
        share = plain(plan.epsilons[name], significant=6)
        unit = "" if measure.step == 1 else f" steps of {plain(measure.step)}"
        lines.append(
            f"{measure.kind.value}: {law.words}, one unit moves it by {moved:,}{unit} ({share})"
        )
    choices = dict(question.measured.choices)
    lines += [_selection_words(each, choices[name]) for name, each in chosen.selections.items()]
    if chosen.threshold is not None:
        lines.append(f"groups appear from {chosen.threshold:,} noisy units on")
    if question.enforced:
        rows = question.stability.max_rows
        lines.append(f"at most {rows:,} {'row' if rows == 1 else 'rows'} of each unit count")
    return tuple(lines)


def _selection_words(selection: Selection, choice: Choice) -> str:
    among, of = f"{selection.bins:,} public values", "rank"
    if choice.width > 1:
        among = f"{selection.bins:,} public ranges of {choice.width:,} values each"
        of = "the middle of one is shown, its rank"
    return (
        f"quantile {plain(selection.quantile)}: exponential mechanism over {among}, {of} off by at "
        f"most {rank_loss(selection):,} rows at 95% ({plain(selection.epsilon, significant=6)})"
    )


def _top_words(top: LargestGroup, groups: PublicGroups | PrivateGroups) -> str:
    count = groups.count if isinstance(groups, PublicGroups) else 0
    name = "permute-and-flip" if top.flip else "the exponential mechanism"
    return (
        f"largest group: chosen among {count:,} by {name}, at most {group_loss(top, count):,} rows fewer than "
        f"the largest at 95% ({plain(top.epsilon, significant=6)})"
    )
