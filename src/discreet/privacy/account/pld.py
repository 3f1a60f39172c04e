"""Privacy-loss distribution (PLD) of a batch that was fixed before its first answer.

Laws of single events are laid side by side, for their moments, and brought onto one grid. Losses are split onto
the grid so that P and Q keep their masses (which only ever helps the attacker), tilted towards the epsilon in
question, and convolved by FFT. What floating point, wrap-around and cut tails can hide is bounded and added.
Never use this as a running total that decides when to stop: that is not a valid filter (arXiv 2602.06756).
Proofs: docs/notes/0008.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Floats
from discreet.privacy.account.convert import golden_section
from discreet.privacy.account.pld_laws import Atoms


@dataclass(frozen=True, slots=True)
class StackedLaws:
    """Laws laid end to end: atom by atom the loss and the logarithm of its mass; `starts` says where
    each law begins and `counts` how often it occurs."""

    losses: Floats
    logs: Floats
    starts: npt.NDArray[np.intp]
    counts: Floats

    @classmethod
    def of(cls, laws: tuple[tuple[Atoms, int], ...]) -> StackedLaws:
        """Return the stack of all laws, without atoms of no mass."""
        losses, logs, sizes = [], [], []
        for atoms, _ in laws:
            positive = atoms.masses > 0
            losses.append(atoms.losses[positive])
            logs.append(np.log(atoms.masses[positive]))
            sizes.append(int(positive.sum()))
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)
        counts = np.array([count for _, count in laws], dtype=np.float64)
        return cls(np.concatenate(losses), np.concatenate(logs), starts, counts)

    def log_moments(self, tilt: float) -> Floats:
        """Return, law by law, ln of the sum of mass * e^(tilt * loss)."""
        exponents = self.logs + tilt * self.losses
        tops = np.maximum.reduceat(exponents, self.starts)
        sums = np.add.reduceat(np.exp(exponents - self._spread(tops)), self.starts)
        result: Floats = tops + np.log(sums)
        return result

    def log_moment(self, tilt: float) -> float:
        """Return ln of the moment of the summed loss."""
        return float(np.dot(self.counts, self.log_moments(tilt)))

    def tilted(self, tilt: float) -> Floats:
        """Return all masses, tilted so that each law sums to one."""
        exponents = self.logs + tilt * self.losses - self._spread(self.log_moments(tilt))
        result: Floats = np.exp(exponents)
        return result

    def spread(self, tilt: float) -> tuple[float, float]:
        """Return mean and standard deviation of the summed loss under the tilted laws."""
        masses = self.tilted(tilt)
        means = np.add.reduceat(masses * self.losses, self.starts)
        deviations = self.losses - self._spread(means)
        variances = np.add.reduceat(masses * deviations * deviations, self.starts)
        return float(np.dot(self.counts, means)), float(np.dot(self.counts, variances)) ** 0.5

    def range(self) -> tuple[float, float]:
        """Return the least and the greatest value of the summed loss."""
        low = np.minimum.reduceat(self.losses, self.starts)
        high = np.maximum.reduceat(self.losses, self.starts)
        return float(np.dot(self.counts, low)), float(np.dot(self.counts, high))

    def on_grid(self, step: float) -> StackedLaws:
        """Return the laws on multiples of `step`; `losses` then are whole numbers of steps.

        Guarantee: each atom is split between its two neighbours so that its mass under P and under Q
            stays what it was; the new pair dominates the old one (note 0008, lemma 2).
        """
        below = np.floor(self.losses / step)
        rest = np.clip(self.losses - below * step, 0.0, step)
        upper = np.clip(np.expm1(-rest) / np.expm1(-step), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logs = np.stack((self.logs + np.log1p(-upper), self.logs + np.log(upper)), axis=1)
        indices = np.stack((below, below + 1), axis=1)
        return StackedLaws(indices.ravel(), logs.ravel(), 2 * self.starts, self.counts)

    def _spread(self, values: Floats) -> Floats:
        sizes = np.diff(np.append(self.starts, len(self.losses)))
        result: Floats = np.repeat(values, sizes)
        return result


UNIT = 2.0**-53
"""Rounding unit of a double."""

_FFT_CONSTANT = 10.0  # Higham 2002, section 24.1, gives about 7 units for each of the log2 n levels
_WIDTHS = (13.0, 20.0, 32.0, 60.0, 150.0)  # half windows to try, in standard deviations


@dataclass(frozen=True, slots=True)
class Convolved:
    """The law of the summed loss, tilted, on a window of the grid, with all its error bounds.

    `masses[i]` is the tilted probability of loss (first + i) * step; `error` bounds the Euclidean norm
    of its floating-point error; `lost` bounds the true probability above the window; true
    probabilities are at most `mass_factor` times these, true losses at most `shift` larger. Below
    `floor` nothing is claimed: what lies under the window would wrap to its top and count too little.
    """

    masses: Floats
    first: int
    step: float
    tilt: float
    log_moment: float
    error: float
    lost: float
    infinite: float
    mass_factor: float
    shift: float
    floor: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at `epsilon`, all errors included."""
        target = epsilon - self.shift
        start = min(max(0, math.floor(target / self.step) - self.first), len(self.masses))
        # Weights fall like e^(-tilt x): beyond e^-60 all masses together count as that much.
        end = min(len(self.masses), start + math.ceil(60 / (self.tilt * self.step)) + 2)
        losses = np.maximum((self.first + np.arange(start, end)) * self.step - target, 0.0)
        weights = np.exp(-self.tilt * losses) * -np.expm1(-losses)
        exponent = self.log_moment - self.tilt * target
        if exponent > 600 or target < self.floor:
            return 1.0  # below the epsilon that this window was made for
        # Plain sums: threads of a linear-algebra library would cost more than they save.
        kept = float((weights * self.masses[start:end]).sum()) + math.exp(-60)
        hidden = self.error * _norm(weights)
        finite = math.exp(exponent) * (kept + hidden) * (1 + 1e-9) + self.lost
        return float(min(1.0, finite * self.mass_factor + self.infinite))


@dataclass(frozen=True, slots=True)
class LossBatch:
    """Laws with their counts, in one direction (adding or removing a person)."""

    laws: tuple[tuple[Atoms, int], ...]

    @property
    def infinite(self) -> float:
        """Return an upper bound of the chance that some event fails outright."""
        return min(1.0, sum(count * atoms.infinite for atoms, count in self.laws) * (1 + 1e-12))

    def around_delta(self, delta: float) -> Convolved:
        """Return the summed law, most precise around the epsilon that goes with `delta`."""
        stack = StackedLaws.of(self.laws)
        needed = -math.log(delta)
        tilt = _best_tilt(lambda value: (stack.log_moment(value) + needed + _relief(value)) / value)
        epsilon = (stack.log_moment(tilt) + needed + _relief(tilt)) / tilt
        return self._convolved(stack, tilt, delta, epsilon)

    def _convolved(
        self, stack: StackedLaws, tilt: float, wanted: float, epsilon: float
    ) -> Convolved:
        """Return the convolution, with a window around `epsilon` that loses little against `wanted`."""
        length = _length(stack)
        mean, deviation = stack.spread(tilt)
        low, high = stack.range()
        for width in _WIDTHS:
            # Besides the bulk of the tilted law, where delta changes by a few powers of e.
            top = min(high, max(mean + width * deviation, epsilon + width / tilt)) + 1e-9
            bottom = max(low, min(mean - width * deviation, epsilon - width / tilt)) - 1e-9
            # Not so narrow that losses could no longer be told from their rounding.
            window = max(top - bottom, 1e-6 * (1 + abs(high)))
            step = _aligned(window / (0.98 * length), stack)
            grid = stack.on_grid(step)
            last = math.floor(bottom / step) + length - 1
            lost = _mass_above(grid, last, tilt * step, deviation / step)
            if lost <= 1e-4 * wanted:
                break
        masses, error = _convolve(grid, tilt * step, length)
        first = last - length + 1
        return Convolved(
            masses=np.roll(masses, -(first % length)),
            first=first,
            step=step,
            tilt=tilt,
            log_moment=grid.log_moment(tilt * step),
            error=error,
            lost=lost,
            infinite=self.infinite,
            mass_factor=math.exp(sum(count * law.mass_error for law, count in self.laws)),
            shift=sum(count * law.rounding for law, count in self.laws),
            floor=-math.inf if grid.range()[0] >= first else first * step,
        )


def _norm(values: Floats) -> float:
    return math.sqrt(float((values * values).sum()))


def _relief(tilt: float) -> float:
    """Return the logarithm of the greatest (1 - e^-x) e^(-tilt x): what delta is below Chernoff."""
    return tilt * math.log(tilt) - (tilt + 1) * math.log1p(tilt)


def _convolve(grid: StackedLaws, tilt: float, length: int) -> tuple[Floats, float]:
    """Return the circular convolution of all tilted laws, and a bound of its error's norm.

    Each transform is off by at most c u log2(n) of its norm, each product by a few units; factors are
    at most one in size, so errors add up. The norm of the result's error is at most the sum.
    """
    levels = _FFT_CONSTANT * UNIT * math.log2(length)
    masses = grid.tilted(tilt)
    places = np.mod(grid.losses, length).astype(np.intp)
    ends = np.append(grid.starts, len(masses))[1:]
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    error = levels
    for start, end, count in zip(grid.starts, ends, grid.counts, strict=True):
        law = np.zeros(length)
        np.add.at(law, places[start:end], masses[start:end])
        product *= _power(np.fft.rfft(law), int(count))
        error += count * (levels * _norm(law) + 8 * UNIT)
    return np.maximum(np.fft.irfft(product, length), 0.0), 2 * float(error)


def _power(
    base: np.ndarray[tuple[int], np.dtype[np.complex128]], count: int
) -> np.ndarray[tuple[int], np.dtype[np.complex128]]:
    """Return the power by repeated squaring, whose relative error is a few units for each factor."""
    result = np.ones_like(base)
    while count:
        if count & 1:
            result = result * base
        count >>= 1
        if count:
            base = base * base
    return result


def _mass_above(grid: StackedLaws, last: int, tilt: float, deviation: float) -> float:
    """Return a bound of the probability of a sum above index `last`: the best of some exponents."""
    if last >= grid.range()[1]:
        return 0.0
    exponents = [
        grid.log_moment(theta) - theta * last
        for theta in (tilt + more / max(deviation, 1e-12) for more in (0.5, 1, 2, 4, 8, 13, 25))
    ]
    return math.exp(min(0.0, *exponents)) * (1 + 1e-9)


def _length(stack: StackedLaws) -> int:
    """Return the length of the transforms: longer for many events, shorter for many laws."""
    if len(stack.counts) > 200:
        return 2**15
    return 2**18 if float(stack.counts.sum()) > 1000 else 2**16


def _aligned(step: float, stack: StackedLaws) -> float:
    """Return a step not below `step` of which the greatest loss of the commonest law is a multiple."""
    law = int(np.argmax(stack.counts))
    end = stack.starts[law + 1] if law + 1 < len(stack.starts) else len(stack.losses)
    greatest = float(np.max(stack.losses[stack.starts[law] : end]))
    if greatest < step:
        return step
    return greatest / math.floor(greatest / step)


def _best_tilt(objective: Callable[[float], float]) -> float:
    """Return a positive tilt near the least value: golden section on its logarithm."""
    low, high = math.log(1e-4), math.log(1e5)
    return math.exp(golden_section(lambda log: objective(math.exp(log)), low, high, rounds=36))
