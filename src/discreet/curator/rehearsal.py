"""A rehearsal: a question about rows that were declared public, with noise that a seed repeats.

It has a budget book of its own, thrown away afterwards: nothing is spent, nothing that was paid for is
used, and nothing of it can be taken for a private answer later.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.ask.release.desk import PlainDesk, Request
from discreet.ask.release.statement import release
from discreet.base.answer import REHEARSAL, Answer
from discreet.base.requests.fields import checked_value, given, request_fields
from discreet.base.requests.paid import RehearseFields
from discreet.curator.opened_catalog import OpenedCatalog, policy_of
from discreet.data.catalog.catalog import Catalog
from discreet.errors import InvalidInput, UnknownName
from discreet.privacy.ledger.ledger import Ledger

_SEED = request_fields(RehearseFields)["seed"]


def rehearse(opened: OpenedCatalog, asked: RehearseFields) -> Answer:
    """Return the answer of a first question, the same for everybody who names this seed.

    Guarantee: tables of datasets without `public_rows` do not exist here, and the kernel refuses a seed
        for them once more, whatever this function does. What is returned carries the watermark.
    """
    found = Request.of(**given(asked), fresh=True)
    request = replace(found, seed=checked_value(_SEED, asked.seed))
    catalog = _public_part(opened.catalog)
    with TemporaryDirectory(prefix="discreet-rehearsal-") as folder:
        ledger = Ledger.open("sqlite:ledger.db", policy_of(catalog), base=Path(folder))
        try:
            answer = release(request, PlainDesk(catalog, ledger, opened.engine, opened.rng))
        except UnknownName as error:
            known = ", ".join(catalog.datasets)
            raise UnknownName(
                error.message, hint=f"A rehearsal knows what was declared public only: {known}."
            ) from None
        finally:
            ledger.discard()
    # Also where only public tables were read, so that whoever asked to rehearse never sees less.
    marked = replace(answer.provenance, private=False, watermark=REHEARSAL)
    return replace(answer, provenance=marked)


def _public_part(catalog: Catalog) -> Catalog:
    """Return the catalog as if there were only the datasets whose rows the owner declared public."""
    public = {name: found for name, found in catalog.datasets.items() if found.public_rows}
    if not public:
        raise InvalidInput(
            "Rehearsals are for rows that everybody may know, and no data set here declares that.",
            hint="An owner writes public_rows = true below [datasets.NAME] of made-up or published data.",
        )
    used = {found.budget for found in public.values()}
    budgets = {name: budget for name, budget in catalog.budgets.items() if name in used}
    return replace(
        catalog, datasets=public, budgets=budgets, analysts={}, unfinished={}, waiting={}
    )
