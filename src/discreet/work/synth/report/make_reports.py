"""The reports of a copy that was made, and the comparison with the real rows for its owner.

The comparison is recorded as a look, and never to be published.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.ask.release.desk import Desk
from discreet.ask.release.snapshots import hold
from discreet.base.bill import Spent
from discreet.base.numbers import plain
from discreet.base.proof import Permit
from discreet.errors import DiscreetError, InvalidInput
from discreet.measure.columns import scan_of
from discreet.measure.private_marginals import (
    Counter,
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter, seal_codes, store_codes
from discreet.measure.shape import Shape
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.rng import Rng, SystemRng
from discreet.show import Document, Paragraph, Section
from discreet.work.synth.methods.registry import find_method
from discreet.work.synth.model_file import Saved
from discreet.work.synth.models.model import Model
from discreet.work.synth.report.publishable import Refit, Subject, publishable_report
from discreet.work.synth.report.quality import compare
from discreet.work.synth.report.sections import (
    dependence_section,
    error_section,
    histogram_section,
    model_section,
    support_section,
    tail_section,
)
from discreet.work.synth.synthetic import Synthetic, SyntheticRows

WARNING = "Do not publish: this compares with the real rows, without noise."
SIDES = ("real", "synthetic")
REASON = "compared a synthetic copy with the real rows"

UNPAID = (
    "Nothing on these pages is private, and looking at them was written into the ledger. Running "
    "the synthesis again because of what you see here (another method, epsilon, seed or column) "
    "chooses by the real data without paying for it: the promise to each person no longer holds "
    "for the result. Choose beforehand, or pay for the choice (--choose)."
)


def owner_report(
    subject: Subject,
    open_counter: Callable[[Permit], Counter],
    *,
    ledger: Ledger,
    dataset: str,
    target: str | None = None,
) -> Document:
    """Return the comparison of a synthetic table with the real one.

    `open_counter` gives the exact marginals for the permit of the look, which is recorded before: a
    crash in between leaves an entry too many, never one too few.

    Guarantee: none. The document holds exact values and says so on every page.
    """
    permit = ledger.record_look(
        dataset,
        reason=REASON,
        columns=subject.encoding.shape.names,
        note=f"table {subject.table}, method {subject.method}",
    )
    lens = subject.lens(target)
    found = compare(open_counter(permit), MemoryCounter(subject.codes, lens.shape), lens)
    note = "Measured against the real rows, exactly."
    return Document(
        f"Comparison of {subject.table} with its synthetic copy",
        f"{len(subject.codes):,} made-up rows by the method '{subject.method}', {subject.price}",
        WARNING,
        (
            Section("Before you read on", (Paragraph(UNPAID, warning=True),)),
            support_section(found, note),
            histogram_section(found, SIDES),
            dependence_section(found, SIDES),
            error_section(found, note),
            model_section(found, SIDES),
            tail_section(found, SIDES),
        ),
    )


def subject_of(saved: Saved, rows: SyntheticRows, notices: tuple[str, ...] = ()) -> Subject:
    """Return what the reports are about: the model, the made-up rows, the noisy tables, the price."""
    facts = saved.facts
    try:
        cost = Spent.from_exact(facts["cost"])
        method = str(facts["method"])
        uses_data = find_method(method).uses_data
        refit = _refit(facts, saved.encoding.shape) if uses_data else None
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise InvalidInput("The model does not say how it was made, so it has no report.") from None
    price = f"epsilon {plain(cost.epsilon)}" + (
        f", delta {plain(cost.delta)}" if cost.delta else ""
    )
    return Subject(
        table=saved.encoding.table,
        method=method,
        price=price if uses_data else "free: no data was read",
        encoding=saved.encoding,
        model=saved.model,
        codes=rows.codes,
        measured=saved.measured,
        notices=notices,
        refit=refit,
    )


def _refit(facts: Any, shape: Shape) -> Refit:
    """Return the same method with the same budget, for rehearsals on synthetic rows."""
    method = find_method(str(facts["method"]))
    budget = MarginalBudget(
        Fraction(facts["purse"]["amount"]), bool(facts["purse"]["concentrated"])
    )
    unit = CountSensitivity.from_json(facts["unit"])
    options = dict(facts["options"])
    rng: Rng = SystemRng()

    def refit(counter: Counter) -> Model:
        return method.fit(PrivateMarginals(counter, shape, budget, unit, rng), **options)

    return refit


def publishable(synthetic: Synthetic, *, target: str | None = None) -> Document:
    """Return the report that may be published with a synthetic table."""
    subject = subject_of(synthetic.saved, synthetic.rows, synthetic.notices)
    return publishable_report(subject, target=target)


def comparison(synthetic: Synthetic, desk: Desk, *, target: str | None = None) -> Document:
    """Return the owner's comparison with the real rows: a recorded look, never to be published."""
    saved = synthetic.saved
    dataset = str(saved.facts["dataset"])
    scan = scan_of(desk.catalog, f"{dataset}.{saved.encoding.table}")

    subject = subject_of(saved, synthetic.rows, synthetic.notices)
    with hold(scan, desk) as held:

        def open_counter(permit: Permit) -> Counter:
            codes = seal_codes(scan, desk.engine, saved.encoding.coded)
            return store_codes(held.paid(permit), codes)

        return owner_report(
            subject, open_counter, ledger=desk.ledger, dataset=dataset, target=target
        )
