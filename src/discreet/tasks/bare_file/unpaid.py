"""A command on a bare file that is refused before anything was paid leaves no declaration behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.api import open as open_curator
from discreet.catalog.bare_file import BareTable, put_back
from discreet.errors import DiscreetError


@contextmanager
def rollback_unless_paid(bare: BareTable) -> Iterator[None]:
    """Take back the discreet.toml that was written for a command, if the command ends unpaid.

    The limit of a bare file is the epsilon of its first command. A refusal must not leave that limit
    behind: the next command would be held to a budget under which nothing was ever bought.

    Guarantee: a declaration under which anything was charged, or left without a guarantee, stays, and
        so does one that somebody has changed since. The ledger's history is never touched.
    """
    try:
        yield
    except BaseException:
        if bare.before != bare.after and _nothing_left(bare):
            put_back(bare)
        raise


def _nothing_left(bare: BareTable) -> bool:
    """Return whether the ledger knows of nothing that has left the table's dataset."""
    try:
        with open_curator(bare.config) as curator:
            dataset = curator.catalog.datasets[bare.dataset]
            charges = curator.ledger.spent(dataset.budget).charges
            return not charges and curator.ledger.exposed(bare.dataset) is None
    except (DiscreetError, KeyError):
        return False  # what cannot be read is left as it is
