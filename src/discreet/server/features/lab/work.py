"""The attack lab: attacks on the example town as jobs; what was run before is not run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.attack.attacks import Attack, AttackSettings, Knob
from discreet.errors import InvalidInput
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.lab.outcomes import Lab, Shown, result_id, usual_id
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job


def sliders(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that a page may turn: numbers and choices; files stay with the command."""
    return tuple(knob for knob in attack.knobs if knob.choices or not isinstance(knob.default, str))


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


def submit(
    context: Context,
    lab: Lab,
    who: Principal,
    attack: Attack,
    given: Mapping[str, Any],
    *,
    request_id: str = "",
) -> Job:
    """Return the job that runs an attack on the town; what was run before is answered at once."""
    settings = turned(attack, given)
    result = result_id(attack, settings)
    return run_attack(
        context, lab, who, attack, dict(settings.values), result=result, request_id=request_id
    )


def run_attack(
    context: Context,
    lab: Lab,
    who: Principal,
    attack: Attack,
    given: Mapping[str, Any],
    *,
    result: str,
    own: bool = False,
    request_id: str = "",
) -> Job:
    """Return the job that runs an attack in a child, which holds no catalog, and keeps its outcome."""
    answer = {"result": result, "attack": attack.name}

    def keep(shown: dict[str, Any]) -> dict[str, Any]:
        lab.keep(Shown(**shown), durable=not own and result == usual_id(attack))
        return answer

    asked = {"name": attack.name, "given": dict(given), "result": result, "own": own}
    return submit_long(
        context,
        who,
        LongTask("discreet.server.features.lab.in_child:attack", asked, reads=False),
        request_id=request_id,
        known=lambda: answer if lab.known(result) else None,
        then=keep,
    )
