"""The attack lab: attacks on the example town as jobs; what was run before is not run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from discreet.attack.attacks import Attack, AttackSettings, Knob
from discreet.errors import InvalidInput
from discreet.server.context import kept_once
from discreet.server.features.lab.outcomes import Lab, Shown, usual_id
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job

lab_of = kept_once(lambda settings: Lab(settings.state_folder))


def sliders(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that a page may turn: numbers and choices; files stay with the command."""
    return tuple(knob for knob in attack.knobs if not knob.text)


def turned(attack: Attack, given: Mapping[str, Any]) -> AttackSettings:
    """Return the settings of a run; refuses what the lab does not offer."""
    offered = {knob.name for knob in sliders(attack)}
    for name in given:
        if name not in offered:
            raise InvalidInput(
                f"The lab has no setting '{name}' for this attack.",
                hint="Attacks on your own files are run by the command: discreet attack.",
            )
    return AttackSettings.of(attack.knobs, given)


def run_attack(
    request: Request,
    attack: Attack,
    given: Mapping[str, Any],
    *,
    result: str,
    own: bool = False,
    request_id: str = "",
) -> Job:
    """Return the job that runs an attack in a child, which holds no catalog, and keeps its outcome."""
    lab, answer = lab_of(request), {"result": result, "attack": attack.name}

    def keep(shown: dict[str, Any]) -> dict[str, Any]:
        lab.keep(Shown(**shown), durable=not own and result == usual_id(attack))
        return answer

    asked = {"name": attack.name, "given": dict(given), "result": result, "own": own}
    return submit_long(
        request,
        LongTask("discreet.server.features.lab.in_child:attack", asked, reads=False),
        request_id=request_id,
        known=lambda: None if lab.known(result) is None else answer,
        then=keep,
    )
