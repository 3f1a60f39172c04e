"""The same subset sums asked of a curator: thousands of them in one statement, at one price."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.attack.curator import Exhibit, curator_over, people_exhibit, whole_numbers
from discreet.core.answer import Answer
from discreet.core.arrays import Bits, Floats

SUBSET_SUMS = (
    "SELECT s.subset, COUNT(*) AS n FROM people AS p JOIN subsets AS s ON p.person = s.person "
    "WHERE p.secret GROUP BY s.subset"
)
"""Which subsets a person is in is public; the ledger charges for the person's most subsets."""
ONE_BY_ONE = "SELECT person, COUNT(*) AS n FROM people WHERE secret GROUP BY person"


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a curator said: one number a subset, and the stated spread of its noise."""

    values: Floats
    spread: float
    words: str


def private_sums(queries: Bits, secret: Bits, *, epsilon: str) -> Answered:
    """Return all subset sums as a curator with `epsilon` in total answers them."""
    subset, person = np.nonzero(queries)
    members = Exhibit(
        pa.table({"person": pa.array(person), "subset": pa.array(subset)}),
        {
            "person": whole_numbers(0, secret.size - 1),
            "subset": whole_numbers(0, len(queries) - 1),
        },
        public_copies=int(queries.sum(0).max()),
    )
    tables = {"people": people_exhibit(secret, "person"), "subsets": members}
    with curator_over(tables, epsilon=epsilon) as ask:
        return _in_order(ask(SUBSET_SUMS, epsilon))


def private_bits(secret: Bits, *, epsilon: str) -> Answered:
    """Return each person's own count: disjoint questions, so each may use all of `epsilon`."""
    with curator_over({"people": people_exhibit(secret, "person")}, epsilon=epsilon) as ask:
        return _in_order(ask(ONE_BY_ONE, epsilon))


def _in_order(answer: Answer) -> Answered:
    values = [count for _, count in sorted(answer.rows)]
    assert answer.covariance is not None, "the noise of a count is known"
    spread = math.sqrt(answer.covariance[0][0][0])
    words = "; ".join(answer.provenance.mechanisms)
    return Answered(np.array(values, dtype=np.float64), spread, words)
