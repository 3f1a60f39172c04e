"""synthesize(): charge, learn, store the codes, fit, keep the model, draw rows; in that order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.ask.release.answer import ACCEPTED, balance_of
from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.base.bill import Bill, Spent
from discreet.base.display import Progress, silent
from discreet.data.engines.base import PaidReader
from discreet.errors import InternalError, InvalidInput
from discreet.measure.learned_domains import LearningContext, learn
from discreet.measure.private_marginals import MarginalBudget, PrivateMarginals, too_small
from discreet.measure.sealing import seal_codes, store_codes
from discreet.measure.shape import Shape
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import free_bill
from discreet.privacy.noise.rng import Rng
from discreet.work.synth.methods import automatic
from discreet.work.synth.model_file import Saved, from_text, packed, to_text, unpacked
from discreet.work.synth.prepare import (
    NoRows,
    PreparedSynthesis,
    SynthRequest,
    prepared,
    preview_of,
)
from discreet.work.synth.selection import Fitted, choose_method, fit_trusted
from discreet.work.synth.synthetic import Synthetic, sample_rows

LEFT_OUT = (
    "Rows with a value that is missing or not declared, in a column without missing = true, are "
    "left out."
)


def synthesize(request: SynthRequest, desk: Desk, *, progress: Progress = silent) -> Synthetic:
    """Return a synthetic copy of a table, charged before any row is read.

    Guarantee: one charge of `budget.quote` pays for everything: learned domains (a stated share),
        every noisy table and every choice of the method, and the number of rows. Each of them gets
        noise for what the kernel read off its own SQL, which is about the people who were charged
        (discreet.measure.sealing). The charge is durable before the engine runs, which happens once at most for it; the model, or the failure, is
        durable before anybody hears of it, and is what the same request id gets again, free
        (`once`). Rows, conditions and rules are post-processing.
    """
    started = time.monotonic()
    with prepared(request, desk) as (ready, held):
        if ready.free:
            saved = _without_data(ready, desk.rng, progress)
            free = free_bill(balance_of(desk.ledger, ready.payer))
            return _finished(ready, saved, free, started)
        charge = Charge(
            ready.budget.quote,
            request.request_id,
            request.body,
            note=f"synthetic copy of {ready.outline.table.name} by {ready.method_words}",
            snapshot=ready.snapshot,
        )
        receipt, stored = paid(
            ready.payer,
            charge,
            lambda reader, _: packed(to_text(_fitted(ready, desk, reader, progress))),
            held=held,
            ledger=desk.ledger,
        )
        saved = from_text(unpacked(stored), name="the stored model")
        saved = replace(saved, rules=ready.rules)
        try:
            return _finished(ready, saved, receipt.bill, started)
        except InvalidInput as error:
            # What fails here is drawing rows as asked, never the model: other words give rows, free.
            kept = (
                "The charge stands, and the model is kept: ask again under the id "
                f"{request.request_id} for other rows or by other conditions, free."
            )
            raise InvalidInput(f"{error.message} {kept}", hint=error.hint) from None


def _fitted(ready: PreparedSynthesis, desk: Desk, reader: PaidReader, progress: Progress) -> Saved:
    budget, outline, engine, rng = ready.budget, ready.outline, desk.engine, desk.rng
    progress(0, 1, "reading the table")
    context = LearningContext(
        engine, reader, budget.learning, budget.threshold_delta, ready.source, rng
    )
    learned = learn(outline, context, lambda what: progress(0, 1, what), stems=True)
    encoding = learned.encoding
    if not encoding.coded:
        raise InvalidInput(
            "The budget was too small to learn anything about any column; it is spent.",
            hint="Declare the domains in discreet.toml, or use a larger epsilon.",
        )
    progress(0, 1, "storing the codes")
    codes = seal_codes(outline.scan, engine, encoding.coded)
    ready.source.check(codes.source)
    counter = store_codes(reader, codes)
    marginals = PrivateMarginals(counter, codes.shape, budget.fitting, codes.unit, rng)
    fitted = _fit(ready, marginals, progress)
    trusted = fitted.trusted
    notices = (*outline.notices, *learned.notices, *fitted.words, *trusted.words)
    private = bool(getattr(rng, "private", True))
    facts = _facts(ready, fitted.method, notices, private=private, part=fitted.part)
    facts["agreement"] = trusted.agreement.chance
    return Saved(encoding, trusted.model, trusted.measured, ready.rules, facts)


def _fit(ready: PreparedSynthesis, marginals: PrivateMarginals, progress: Progress) -> Fitted:
    options = _options(ready, marginals.shape)
    if len(ready.methods) > 1:
        candidates = [
            (name, lambda d, p, method=method: method.fit(d, progress=p, **options))
            for name, method in ready.methods
        ]
        return choose_method(marginals, candidates, progress=progress)
    ((name, method),) = ready.methods
    if method.fit is not automatic.fit:
        return Fitted(
            fit_trusted(
                marginals, name, lambda: method.fit(marginals, progress=progress, **options)
            ),
            name,
        )
    picked = automatic.pick(marginals)
    trusted = fit_trusted(
        picked.marginals,
        picked.name,
        lambda: automatic.fit_picked(picked, progress=progress, **options),
    )
    return Fitted(trusted, picked.name, (picked.words,), 1 - automatic.COUNT)


def _options(ready: PreparedSynthesis, shape: Shape) -> dict[str, Any]:
    """Return the settings of the method; a workload without columns that could not be learned."""
    options = dict(ready.request.options)
    if "workload" in options:
        there = {name.lower() for name in shape.names}
        asked = [[n for n in names if n.lower() in there] for names in options["workload"]]
        options["workload"] = [names for names in asked if names] or None
    return options


def _without_data(ready: PreparedSynthesis, rng: Rng, progress: Progress) -> Saved:
    """Return a model that no row had any part in."""
    encoding = preview_of(ready.outline, words=False)
    if not encoding.coded:
        raise InvalidInput("No column of this table has declared values to choose from.")
    ((name, method),) = ready.methods
    broken = NoRows(InternalError("a method that reads no data asked for some"))
    budget = MarginalBudget(Fraction(1), concentrated=False)
    marginals = PrivateMarginals(broken, encoding.shape, budget, ready.unit, rng)
    options = {"rows": ready.request.rows, **ready.request.options}
    model = method.fit(marginals, progress=progress, **options)
    notices = (*ready.outline.notices, "No row was read: the values are random.")
    return Saved(encoding, model, (), ready.rules, _facts(ready, name, notices, private=True))


def _facts(
    ready: PreparedSynthesis,
    method: str,
    notices: Sequence[str],
    *,
    private: bool,
    part: Fraction = Fraction(1),
) -> dict[str, Any]:
    """Return what a saved model says about where it comes from: public, or paid for."""
    budget = ready.budget
    return {
        "dataset": ready.payer.dataset,
        "method": method,
        "options": dict(ready.request.options),
        "cost": Spent(ready.request.epsilon.value, budget.delta.value).exact(),
        "purse": {
            "amount": str(budget.fitting.amount * part),
            "concentrated": budget.whole.concentrated,
        },
        "unit": ready.unit.to_json(),
        "accepted": ready.outline.dataset.accepted,
        "csv": dict(ready.csv),
        "notices": list(notices),
        "private": private,
    }


def _finished(ready: PreparedSynthesis, saved: Saved, bill: Bill, started: float) -> Synthetic:
    request = ready.request
    rows = sample_rows(saved, request.rows, where=request.where)
    notices = [*saved.facts["notices"]]
    if any(not column.missing for column in saved.encoding.coded) and not ready.free:
        notices.append(LEFT_OUT)
    if ready.outline.dataset.accepted:
        notices.append(ACCEPTED)
    warning = too_small(saved.measured, max(1, saved.usual_rows))
    notices += [] if warning is None else [warning]
    return Synthetic(
        saved=saved,
        rows=rows,
        method=str(saved.facts["method"]),
        bill=bill,
        request_id=request.request_id,
        notices=(*notices, *rows.notices),
        seconds=time.monotonic() - started,
    )
