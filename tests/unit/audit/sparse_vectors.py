"""The six published variants of the sparse vector technique, numbered as by Lyu, Su & Li (2017).

Epsilon 1, sensitivity 1, at most CUT answers above; outputs are vectors whose length depends on when
they stop. Two of them are private. The inputs are answers to counting queries on two neighbours.
"""

import numpy as np

EPSILON = 1
CUT = 1
HALF = 4
NEIGHBOURS = [
    ((0.0,) * HALF + (1.0,) * HALF, (1.0,) * HALF + (0.0,) * HALF),
    ((0.0,) * (2 * HALF), (1.0,) * HALF + (-1.0,) * HALF),
    ((0.0, 1.0), (1.0, 0.0)),
]
DICE = np.random.default_rng()


def _runs(answers, size, *, bar, noise, cut, again=False, value=None):
    rows = np.asarray(answers) + noise * DICE.laplace(0, 1, (size, len(answers)))
    bars = DICE.laplace(0, bar, size)
    found = []
    for row, limit in zip(rows, bars, strict=True):
        out, above, now = [], 0, limit
        for answer in row:
            if answer < now:
                out.append(False)
                continue
            out.append(True if value is None else float(value(answer)))
            above += 1
            if above == cut:
                break
            now = DICE.laplace(0, bar) if again else now
        found.append(out)
    return found


def variant_1(answers, size):
    """Private: half of epsilon for the threshold, half for the answers above."""
    return _runs(answers, size, bar=2, noise=4 * CUT, cut=CUT)


def variant_2(answers, size):
    """Private: a new threshold after each answer above."""
    return _runs(answers, size, bar=2 * CUT, noise=4 * CUT, cut=CUT, again=True)


def variant_3(answers, size):
    """Not private: the noisy answer that was compared is shown."""
    return _runs(answers, size, bar=2, noise=2 * CUT, cut=CUT, value=lambda noisy: round(noisy, 1))


def variant_4(answers, size):
    """Not at this epsilon: the noise of the answers is not for the cut, (1 + 6 CUT) / 4."""
    return _runs(answers, size, bar=4, noise=4 / 3, cut=CUT)


def variant_5(answers, size):
    """Not private at all: no noise on the answers."""
    return _runs(answers, size, bar=2, noise=0, cut=len(answers) + 1)


def variant_6(answers, size):
    """Not private at all: as many answers above as come."""
    return _runs(answers, size, bar=2, noise=2, cut=len(answers) + 1)
