"""Small randomizers of every kind, and an explorer that finds the exact law of an encoder."""

from fractions import Fraction

from discreet.errors import InvalidInput
from discreet.survey.audited import AUDITED, audited_randomizer
from discreet.survey.randomizers.base import WORD, AnswerDomain


def _usual(mechanism):
    if mechanism.over is AnswerDomain.WORDS:
        return ["0", "1"]
    if mechanism.over is AnswerDomain.NUMBERS:
        return [0.0, 1.0]
    return [0, 1]


VALUES = {name: _usual(mechanism) for name, mechanism in AUDITED.items()} | {
    "k_ary": [0, 1, 2, 3],
    "unary": [0, 1, 4],
    "local_hash": [0, 1, 5, 8],
    "projective": [0, 1, 3, 7],
    "hadamard_sketch": ["0", "1", "word"],
    "rappor": [0, 1, 4],
    "duchi": [0.0, 1.0, 0.25],
}
NUMBERS = tuple(name for name, each in AUDITED.items() if each.over is AnswerDomain.NUMBERS)


def made(name, epsilon):
    return audited_randomizer(name, Fraction(epsilon))


class RecordedBytes:
    """Bytes that were written down: for test vectors, never for respondents."""

    def __init__(self, recorded):
        self._recorded = recorded
        self.used = 0

    def take(self, count):
        """Return the next `count` bytes, or refuse when there are no more."""
        self.used += count
        if self.used > len(self._recorded):
            raise InvalidInput("The recorded random bytes ended too early.")
        return self._recorded[self.used - count : self.used]


class Script:
    """Draws that follow a script of outcomes and write down how likely each was."""

    def __init__(self, script):
        self.script = script
        self.taken = []  # (outcome, how many outcomes there are, probability of this one)

    def _next(self, outcomes, probability_of):
        at = len(self.taken)
        outcome = self.script[at] if at < len(self.script) else 0
        self.taken.append((outcome, outcomes, probability_of(outcome)))
        return outcome

    def coin(self, parts):
        share = Fraction(parts, WORD)
        return bool(self._next(2, lambda outcome: share if outcome else 1 - share))

    def below(self, count):
        return 0 if count == 1 else self._next(count, lambda _: Fraction(1, count))


def outcomes(encode, longest=64):
    """Yield (report, probability, first outcome) for every way that the draws can fall.

    Paths of more than `longest` draws are cut off: only redraws can be that long.
    """
    script = []
    while True:
        draws = Script(script)
        report = encode(draws)
        probability = Fraction(1)
        for _, _, each in draws.taken:
            probability *= each
        if len(draws.taken) <= longest:
            yield report, probability, draws.taken[0][0]
        script = [outcome for outcome, _, _ in draws.taken]
        counts = [count for _, count, _ in draws.taken]
        while script and script[-1] == counts[len(script) - 1] - 1:
            script.pop()
        if not script:
            return
        script[-1] += 1
