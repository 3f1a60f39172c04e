"""A respondent's device: coins thrown once for each wave of a survey, and nothing kept of the answer."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from discreet.survey.device.donation import ID_BYTES, Donation
from discreet.survey.randomizers.device_coins import ByteSource, Draws
from discreet.survey.spec.plan import SurveyPlan, value_of

Value = int | float | str


class SystemCoins:
    """Random bytes of the operating system, each given once."""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return secrets.token_bytes(count)


_SYSTEM = SystemCoins()


class Device:
    """One device. The answer stays here and is not kept; only `Donation`s leave.

    Guarantee: for each wave of a survey one donation leaves at most, made with coins of its own, whatever
        was answered before; so all that leaves in `waves` waves is epsilon-DP for its respondent. After a
        donation the device knows that it gave one, and nothing else: no answer, no coins, no secret.
        Whether a question is answered at all is not hidden.
    """

    def __init__(self) -> None:
        self._answered: set[bytes] = set()

    def donate(
        self,
        plan: SurveyPlan,
        answers: Mapping[str, str | None],
        *,
        coins: ByteSource = _SYSTEM,
    ) -> Donation | None:
        """Return what may leave for this wave, or None if it was answered on this device already.

        An answer that is None or empty is left out. Nothing answered: nothing is sent.
        """
        values = [_answer(plan, index, answers) for index in range(len(plan.choices))]
        if plan.id in self._answered or all(each is None for each in values):
            return None
        self._answered.add(plan.id)
        one_use, draws = coins.take(ID_BYTES), Draws(coins)
        reports = tuple(
            None if value is None else choice.randomizer.encode(value, draws)
            for value, choice in zip(values, plan.choices, strict=True)
        )
        return Donation(plan.id, one_use, reports)

    def forget(self) -> None:
        """Know nothing of any survey any more: whoever answers next counts as somebody new."""
        self._answered.clear()


def _answer(plan: SurveyPlan, index: int, answers: Mapping[str, Any]) -> Value | None:
    question = plan.survey.questions[index]
    answer = answers.get(question.name)
    return None if answer is None or not answer.strip(" \t\r\n") else value_of(question, answer)
