"""`discreet attack NAME`: one of the red team's attacks, on the example town or on your files."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.command import Json, command_group, counting, keyword, signed
from discreet.cli.terminal import say, tell
from discreet.lab.attacks.attacks import MODULES, Attack, Knob, all_attacks, attack_named

Report = Annotated[
    Path | None, typer.Option("--report", help="Also write the story: .html or .json.")
]


def build(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command with one subcommand for each attack; all of them if none is named."""
    app = command_group(invoke_without_command=True)
    app.callback()(_list)
    named = arguments[0] if arguments else ""
    attacks = (attack_named(named),) if named in MODULES else all_attacks()
    for attack in attacks:
        words = f"{attack.words}\n\nExample: discreet attack {attack.name} --json"
        app.command(attack.name, help=words)(_command(attack))
    return app


def _list(context: typer.Context) -> None:
    """Attack a release the way an adversary would, and the private version beside it.

    Example: discreet attack reconstruction --json
    """
    if context.invoked_subcommand is None:
        for attack in all_attacks():
            say(f"{attack.name:<16}{attack.words}")
        say("\nTry: discreet attack differencing")


def _command(attack: Attack) -> Any:
    """Return a function whose signature is the attack's knobs, for typer to read."""

    def run(*, report: Report = None, json: Json = False, **settings: Any) -> None:
        from discreet.lab.attacks.attacks import story, told
        from discreet.show.document import REPORT_FILES, check_target, write

        if report is not None:
            check_target(report, REPORT_FILES)
        with counting(attack.name) as progress:
            outcome = attack.run(settings, progress=progress)
        if report is not None:
            write(story(outcome), report)
        tell(outcome.to_json(), lambda: told(outcome), json=json)

    return signed(run, run, [_parameter(knob) for knob in attack.knobs])


def _parameter(knob: Knob) -> inspect.Parameter:
    flag = f"--{knob.name.replace('_', '-')}"
    words = knob.words
    if knob.choices:
        words = f"{words}: {', '.join(knob.choices)}"
    kind = type(knob.default)
    low, high = knob.low, knob.high
    if kind is int:
        low = None if low is None else int(low)
        high = None if high is None else int(high)
    option = typer.Option(flag, help=words, min=low, max=high, show_default=knob.default != "")
    return keyword(knob.name, Annotated[kind, option], knob.default)
