"""An answer as the ledger keeps it, with what it says about boxes of the public domain."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.core.answers.answer import Answer
from discreet.core.bill import Bill
from discreet.core.numbers import Epsilon
from discreet.release.kept.kept_noise import KeptNoise
from discreet.release.kept.paid_cells import PaidValue


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer, the epsilon it was asked at, and the noisy numbers from which it was finished."""

    answer: Answer
    epsilon: Fraction
    noise: KeptNoise | None = None


def pack(
    answer: Answer,
    known: tuple[PaidValue, ...],
    epsilon: Epsilon,
    noise: KeptNoise | None = None,
) -> bytes:
    """Return the stored form: JSON, nothing that runs."""
    data = {
        "answer": answer.to_json(),
        "exact": answer.bill.exact(),
        "epsilon": str(epsilon.value),
        "known": [item.to_json() for item in known],
        "noise": None if noise is None else noise.to_json(),
    }
    return json.dumps(data, separators=(",", ":")).encode()


@lru_cache(maxsize=512)
def unpack(payload: bytes) -> KeptAnswer:
    """Return what `pack` wrote."""
    data = json.loads(payload)
    # In older ledgers, number of keys and covariance stood beside the answer.
    beside = {name: data[name] for name in ("keys", "covariance") if name in data}
    said = data["answer"] | beside
    bill = Bill.from_exact(data["exact"], free=said["free"])
    answer = replace(Answer.from_json(said), bill=bill)
    noise = data.get("noise")
    return KeptAnswer(
        answer, Fraction(data["epsilon"]), None if noise is None else KeptNoise.from_json(noise)
    )


@lru_cache(maxsize=512)
def paid_values_in(payload: bytes) -> tuple[PaidValue, ...]:
    """Return the reusable numbers of what `pack` wrote; read by themselves, as few answers are reused."""
    return tuple(PaidValue.from_json(item) for item in json.loads(payload)["known"])
