"""The attack lab: attacks on the example town as jobs; what was run before is not run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.attack.knobs import AttackSettings
from discreet.attack.registry import Attack, Knob
from discreet.errors import InvalidInput
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.lab.outcomes import Lab, result_id, shown_of, usual_id
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

    def work(job: Job) -> dict[str, Any]:
        if not lab.known(result):
            outcome = attack.run(settings.values, progress=job.advance)
            lab.keep(shown_of(result, outcome), durable=result == usual_id(attack))
        return {"result": result, "attack": attack.name}

    return context.runner.submit(who.key, work, request_id=request_id, keep=True, long=True)
