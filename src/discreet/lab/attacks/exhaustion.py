"""Exhaustion: an analyst who spends the budget that others need, so that they are refused.

Where all analysts draw on one pot, the first to ask empties it. Where each has a share, the ledger
refuses whoever is through with theirs, and the others' shares stay, as long as they do not add up to more
than the whole.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

from discreet.base.display import Progress
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    score_bars,
    score_grid,
)
from discreet.lab.attacks.counts.people import OWN_FILE, secret_bits
from discreet.lab.attacks.curator import (
    OTHER_TOKEN,
    TOKEN,
    AnsweringService,
    curator_of,
    part_of,
    people_table,
    running,
)
from discreet.show.document import Figure

ATTACK = Attack(
    name="exhaustion",
    title="Exhaustion",
    words="Spend the budget that somebody else needs, so that their questions are refused.",
    knobs=(
        Knob("people", 400, "people in the table", 20, 20_000, 20),
        Knob("questions", 30, "questions that the other analyst planned", 2, 200, 1),
        Knob("epsilon", 2.0, "the whole budget; half of it is the attacker's share", 0.1, 100.0),
        Knob("at_once", 4, "questions that the attacker sends at once", 1, 16, 1),
        *OWN_FILE,
        Knob("server", "", f"a running server instead; tokens in {TOKEN} and {OTHER_TOKEN}"),
        Knob("ask", "", "with server: a question that both may ask (both shares pay for it)"),
        Knob("seed", 0, "which people", 0, 1_000_000, 1),
    ),
)
SQL = "SELECT COUNT(*) AS n FROM people"
MEASURE = "share of the other analyst's questions that were refused"
ATTACKER, OTHER = "mallory", "alice"
_ENOUGH = 3
"""Refusals in a row after which the attacker gives up."""


@dataclass(frozen=True, slots=True)
class ExhaustionResult:
    """What one attack came to: questions that the attacker got, and refusals of the other."""

    attacker: int
    tried: int
    refused: int
    asked: int

    def score(self) -> Score:
        """Return the share of refusals; without an attacker there are none."""
        return Score.of_guesses(self.refused, self.asked, baseline=0.0, measure=MEASURE)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how many questions of another analyst are refused: one pot beside shares."""
    if chosen.text("server"):
        return _outcome(chosen, None, _on_server(chosen, progress))
    whole = chosen.number("epsilon")
    bits = secret_bits(chosen, people=chosen.whole("people"), town="smoker")
    tables = {"people": people_table(bits, "place")}
    half = part_of(whole, 2)
    each = part_of(float(half), chosen.whole("questions"))
    found = []
    for step, shares in enumerate(({}, {ATTACKER: float(half), OTHER: float(half)})):
        progress(step, 2, "shares for each" if shares else "one pot for all")
        with curator_of(tables, epsilon=whole, shares=shares) as curator:
            parties = (ATTACKER, OTHER) if shares else (None, None)
            found.append(_besieged(chosen, (curator, curator), SQL, each, parties))
    return _outcome(chosen, found[0], found[1])


def _on_server(chosen: AttackSettings, progress: Progress) -> ExhaustionResult:
    if not chosen.text("ask"):
        raise InvalidInput(
            "Say what to ask.", hint='As in --ask "SELECT COUNT(*) AS n FROM people".'
        )
    url = chosen.text("server")
    each = part_of(chosen.number("epsilon") / 2, chosen.whole("questions"))
    progress(0, 1, "asking until nothing is left")
    with running(url) as mine, running(url, OTHER_TOKEN) as theirs:
        return _besieged(chosen, (mine, theirs), chosen.text("ask"), each, (None, None))


def _besieged(
    chosen: AttackSettings,
    parties: tuple[AnsweringService, AnsweringService],
    sql: str,
    each: Fraction,
    names: tuple[str | None, str | None],
) -> ExhaustionResult:
    """Return what is left for the other analyst after the attacker asked all they could."""
    attacker, other = parties
    got = tried = lost = 0
    width = chosen.whole("at_once")
    # Half of what it asks for is large: large questions end the budget, small ones its last crumbs.
    sizes = [each * 8, each]
    with ThreadPoolExecutor(width) as pool:
        for size in sizes:
            lost = 0
            while lost < _ENOUGH:
                told = list(
                    pool.map(lambda _: _asked(attacker, sql, size, names[0]), range(width))  # noqa: B023
                )
                tried += width
                got += sum(told)
                lost = 0 if any(told) else lost + 1
    planned = chosen.whole("questions")
    refused = sum(not _asked(other, sql, each, names[1]) for _ in range(planned))
    return ExhaustionResult(got, tried, refused, planned)


def _asked(who: AnsweringService, sql: str, epsilon: Fraction, name: str | None) -> bool:
    """Return whether a question was answered; whatever else goes wrong is no refusal."""
    try:
        who.query(
            sql, epsilon=str(float(epsilon)), analyst=name, request_id=uuid.uuid4().hex, fresh=True
        )
    except BudgetExceeded:
        return False
    return True


def _outcome(
    chosen: AttackSettings, pot: ExhaustionResult | None, shares: ExhaustionResult
) -> Outcome:
    """Return the outcome; against a running server there is no naive twin, so it is its own score."""
    shown = {"one pot for all": pot, "a share for each": shares}
    held = {name: siege for name, siege in shown.items() if siege is not None}
    scores = {name: siege.score() for name, siege in held.items()}
    where = chosen.text("server") or "one table"
    return Outcome(
        knew="Nothing but the address: an analyst with a right to ask.",
        released=f"Private answers about {where}; {shares.asked:,} questions were planned by somebody else.",
        did=f"Asked first, {chosen.whole('at_once')} questions at once, large ones and then small ones, until "
        "every one was refused; then the other analyst asked what was planned.",
        lesson="A budget that all share belongs to whoever is quickest. Give every analyst a share, and let "
        "the shares add up to no more than the whole.",
        score=(pot or shares).score(),
        private=shares.score(),
        private_words="With shares the attacker was refused when their own was spent "
        f"({shares.attacker:,} of {shares.tried:,} questions were answered).",
        details={
            name: {"attacker_answered": s.attacker, "attacker_asked": s.tried, "refused": s.refused}
            for name, s in held.items()
        },
        blocks=(
            Figure(
                "Refused although planned",
                score_bars(scores, "share of the other's questions"),
                "Without an attacker none is refused.",
            ),
            score_grid(("budget", "refused", "95% from", "to"), scores, "Clopper-Pearson limits."),
        ),
    )
