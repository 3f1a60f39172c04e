"""Frequent words without a list of them: each device tells a prefix of its word, of a length drawn by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.privacy.noise.coins import uniform
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    NumberReports,
    Reports,
    ReportShape,
    Shares,
    Tally,
    smallest_type,
)
from discreet.survey.randomizers.count_mean import word_bytes, words_of
from discreet.survey.randomizers.hadamard import HadamardSketch

LEVELS, MOST_LEVELS = 8, 32
"""Prefixes of 1 to so many bytes, as is usual and at most; longer words are found by their beginning."""
_MOST_SURVIVORS = 64
_FALSE = 0.001  # prefixes of a level that stand out by chance alone, expected at most
_END = b"\x00"


@dataclass(frozen=True, slots=True)
class PrefixTree(NumberReports):
    """A level l below `levels` is drawn, then a Hadamard sketch's report of the first l + 1 bytes of the word (bytes 0
    after its end). Number: level times the sketch's reports, plus the sketch's.

    Prefixes that stand out are extended by every byte and looked up one level deeper, so that frequent
    words are found without a list.

    Guarantee: the level does not depend on the word, and the sketch keeps epsilon.
        [Wang, Li & Jha 2019; docs/notes/0042-survey.md]
    """

    sketch: HadamardSketch
    levels: int = LEVELS
    name: ClassVar[str] = "prefix-tree"

    @classmethod
    def of(
        cls, epsilon: Fraction, *, rows: int = 64, buckets: int = 1024, levels: int = LEVELS
    ) -> PrefixTree:
        """Return the tree of so many levels whose sketches have this size at `epsilon`."""
        return cls(HadamardSketch.of(epsilon, rows=rows, buckets=buckets), levels)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is one number."""
        return ReportShape(cells=self.levels * self.sketch.shape.cells)

    @property
    def own(self) -> Fraction:
        """Return how likely a report of the deepest level carries the sign of the own word."""
        return self.sketch.own

    @property
    def other(self) -> Fraction:
        """Return how likely it carries the sign of another word, over all public hashes."""
        return self.sketch.other

    @property
    def hash_variance(self) -> float:
        """Return the greatest variance of a share that collisions under the fixed hashes add."""
        return self.sketch.hash_variance

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return self.sketch.worst_ratio

    def encode(self, value: Any, draws: Draws) -> int:
        """Return the report of one word: the level, then the sketch's report of the prefix."""
        level = draws.below(self.levels)
        told = self.sketch.encode(prefix(word_bytes(str(value)), level), draws)
        return level * self.sketch.shape.cells + told

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each word, by the same law."""
        levels = uniform(self.levels, len(values), rng=rng)
        pairs = zip(words_of(values), levels.tolist(), strict=True)
        told = self.sketch.encode_many([prefix(word, at) for word, at in pairs], rng)
        reports = levels * self.sketch.shape.cells + told
        return np.asarray(reports, dtype=smallest_type(self.shape.cells))

    def deepest(self, tally: Tally) -> Tally:
        """Return the sketch's tally of the reports of whole words (of their first bytes)."""
        return np.asarray(tally.reshape(self.levels, -1)[-1])

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports of the deepest level carry the sign of each word, or of its first bytes."""
        words = [
            word if isinstance(word, bytes) else prefix(word_bytes(str(word)), self.levels - 1)
            for word in values
        ]
        return self.sketch.supporters(self.deepest(tally), words)

    def discover(self, tally: Tally) -> dict[str, bytes]:
        """Return the words that stand out on every level, each with its first bytes.

        Only noisy reports are looked at. A prefix survives where its share is further above 0 than
        one of all that are asked for would be by chance (once in a thousand levels), and among the 64
        greatest of its level. What no device could tell is left out.
        """
        survivors: list[bytes] = [b""]
        for level, counts in enumerate(tally.reshape(self.levels, -1)):
            asked = [longer for one in survivors for longer in _longer(one)]
            reports = int(counts.sum())
            if not reports or not asked:
                return {}
            own, other = float(self.own), float(self.other)
            supporters = self.sketch.supporters(counts, asked)
            shares = (supporters / reports - other) / (own - other)
            noise = other * (1 - other) / (reports * (own - other) ** 2) + self.hash_variance
            sure = NormalDist().inv_cdf(1 - _FALSE / len(asked))
            order = np.argsort(-shares, kind="stable")[:_MOST_SURVIVORS]
            survivors = [asked[at] for at in order if shares[at] > sure * noise**0.5]
            assert all(len(one) == level + 1 for one in survivors)
        shown = ((_label(one.rstrip(_END), self.levels), one) for one in survivors)
        return {label: one for label, one in shown if label.strip()}


def prefix(word: bytes, level: int) -> bytes:
    r"""Return the first level + 1 bytes of a word, with bytes 0 after its end.

    >>> prefix(b"tea", 1), prefix(b"tea", 4)
    (b'te', b'tea\x00\x00')
    """
    return word[: level + 1].ljust(level + 1, _END)


def _label(found: bytes, levels: int) -> str:
    r"""Return the first bytes of a word as text: "" if they are none; a letter cut in two is left out.

    >>> _label(b"tea", 8), _label(b"\xff", 8), _label("a\u00e4\u00e4\u00e4\u00e4".encode()[:8], 8)
    ('tea', '', 'a\xe4\xe4\xe4...')
    """
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        cut = len(found) == levels and error.reason == "unexpected end of data"
        return f"{found[: error.start].decode()}..." if cut and error.start else ""


def _longer(one: bytes) -> Iterator[bytes]:
    """Yield a prefix with every byte that may follow it; after the end of a word only 0 may."""
    if one.endswith(_END):
        yield one + _END
        return
    for byte in range(256):
        yield one + bytes([byte])


def _made(space: AnswerSpace, epsilon: Fraction) -> PrefixTree:
    # The levels share the reports and each extension asks for 256 prefixes: few rows do.
    rows = min(space.rows, 64)
    return PrefixTree.of(epsilon, rows=rows, buckets=space.buckets, levels=space.levels)


MECHANISM = Mechanism(
    "prefix-tree", AnswerDomain.WORDS, _made, audited=AnswerSpace(rows=2, buckets=4, levels=LEVELS)
)
