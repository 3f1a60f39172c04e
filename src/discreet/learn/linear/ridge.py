"""Ridge regression from noisy sums of products: the normal equations, cleaned of noise's worst."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats


def fit(sums: Floats, deviation: float) -> Floats:
    """Return the weights, intercept first, of scaled variables for the last of them.

    `deviation` is that of the noise in each sum. The ridge is the size of the noise in the largest
    eigenvalue that noise alone would make: smaller directions cannot be told from it.
    """
    rows = max(float(sums[0, 0]), 1.0)
    gram = np.clip(sums / rows, -1.0, 1.0)
    gram[0, 0] = 1.0
    values, vectors = np.linalg.eigh(gram)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    penalty = np.full(len(gram) - 1, 2 * deviation / rows * np.sqrt(len(gram)))
    penalty[0] = 0.0
    weights = np.linalg.solve(gram[:-1, :-1] + np.diag(penalty + 1e-9), gram[:-1, -1])
    return np.asarray(weights)
