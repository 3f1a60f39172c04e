"""The owner's comparison with the real rows: recorded as a look, and never to be published."""

from __future__ import annotations

from collections.abc import Callable

from discreet.core.proof.permit import Permit
from discreet.ledger.ledger import Ledger
from discreet.report import Document, Paragraph, Section
from discreet.synth.measure.memory_counter import MemoryCounter
from discreet.synth.measure.private_marginals import Counter
from discreet.synth.report.quality import compare
from discreet.synth.report.quality_sections import (
    dependence_section,
    error_section,
    histogram_section,
    model_section,
    support_section,
    tail_section,
)
from discreet.synth.report.subject import Subject

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
