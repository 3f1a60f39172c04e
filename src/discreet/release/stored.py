"""An answer as the ledger keeps it, with what it says about boxes of the public domain."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.core.answer import Answer, Spent
from discreet.core.numbers import Epsilon
from discreet.release.kept_noise import KeptNoise
from discreet.release.paid_cells import Known


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer, the epsilon it was asked at, and the noisy numbers from which it was finished."""

    answer: Answer
    epsilon: Fraction
    noise: KeptNoise | None = None


def pack(
    answer: Answer,
    known: tuple[Known, ...],
    epsilon: Epsilon,
    noise: KeptNoise | None = None,
) -> bytes:
    """Return the stored form: JSON, nothing that runs."""
    data = {
        "answer": answer.to_json(),
        "exact": {
            name: [str(spent.epsilon), str(spent.delta)]
            for name, spent in (
                ("cost", answer.cost),
                ("before", answer.before),
                ("after", answer.after),
                ("limit", answer.limit),
            )
        },
        "keys": answer.keys,
        "covariance": answer.covariance,
        "epsilon": str(epsilon.value),
        "known": [item.to_json() for item in known],
        "noise": None if noise is None else noise.to_json(),
    }
    return json.dumps(data, separators=(",", ":")).encode()


@lru_cache(maxsize=512)
def unpack(payload: bytes) -> KeptAnswer:
    """Return what `pack` wrote."""
    data = json.loads(payload)
    exact: dict[str, Any] = {
        name: Spent(Fraction(e), Fraction(d)) for name, (e, d) in data["exact"].items()
    }
    rows = data["covariance"]
    answer = replace(
        Answer.from_json({**data["answer"], "keys": data["keys"]}),
        **exact,
        covariance=None if rows is None else tuple(tuple(map(tuple, matrix)) for matrix in rows),
    )
    noise = data.get("noise")
    return KeptAnswer(
        answer, Fraction(data["epsilon"]), None if noise is None else KeptNoise.from_json(noise)
    )


@lru_cache(maxsize=512)
def known_in(payload: bytes) -> tuple[Known, ...]:
    """Return the reusable numbers of what `pack` wrote; read by themselves, as few answers are reused."""
    return tuple(Known.from_json(item) for item in json.loads(payload)["known"])
