"""The method that uses no data: every code as likely as any other."""

from __future__ import annotations

import numpy as np

from discreet.base.display import Progress, silent
from discreet.measure.private_marginals import PrivateMarginals
from discreet.work.synth.models.conditional_chain import Network, Node


def fit(marginals: PrivateMarginals, *, rows: int = 1, progress: Progress = silent) -> Network:
    """Return uniform, independent columns. Measures nothing, so it costs nothing.

    `rows` is what the model says about the number of rows, since nothing was counted.

    Guarantee: the model is a function of the public shape alone.
    """
    nodes = tuple(
        Node(column, (), np.full(size, 1 / size))
        for column, size in enumerate(marginals.shape.sizes)
    )
    progress(1, 1, "no data was read")
    return Network(marginals.shape, float(rows), nodes)
