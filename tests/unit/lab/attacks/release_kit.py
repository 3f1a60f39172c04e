"""Made-up people with columns that depend on each other, for judging releases."""

import numpy as np
import pyarrow as pa

JOBS = np.array(["Nurse", "Teacher", "Builder", "Clerk", "Cook"])


def people(count: int, rng: np.random.Generator) -> pa.Table:
    age = rng.integers(18, 90, count)
    place = rng.integers(0, 12, count)
    job = JOBS[(age // 20 + (rng.random(count) < 0.4) * rng.integers(0, 5, count)) % 5]
    return pa.table(
        {
            "age": age,
            "place": [f"P{number}" for number in place],
            "job": job.tolist(),
            "shoe": rng.integers(35, 47, count),
            "income": rng.lognormal(10, 0.6, count).round(),
            "owner": rng.random(count) < 0.4,
        }
    )
