"""The list of commands, and how errors are said."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from discreet.base.display import visible
from discreet.cli.terminal import say
from discreet.errors import DiscreetError

COMMANDS = {
    "demo": (".serve", "The made-up town on a page of its own, ready to be asked."),
    "serve": (".serve", "The page, the HTTP API and a PostgreSQL endpoint."),
    "token": (".token", "Make, list and revoke the tokens of a server."),
    "init": (".owner", "Propose discreet.toml for a file or a database."),
    "review": (".owner", "What each declaration loses and reveals; accept or hide columns."),
    "bounds": (
        ".query",
        "What max_rows leaves out beside the noise, from a small paid look.",
    ),
    "refresh": (".owner", "Let questions read the rows as they are now."),
    "query": (".query", "Answer one SQL question privately."),
    "publish": (".publish", "Many tables as one consistent, signed package."),
    "verify": (".publish", "Check a published package without the data."),
    "reconcile": (".publish", "Make noisy answers agree with equations."),
    "synth": (".synth", "Make a synthetic copy of a file or a table."),
    "survey": (".survey", "Ask people whose devices randomise their own answers."),
    "learn": (".learn", "Train a private model, and use it."),
    "attack": (".attack", "Attack a release, and its private version beside it."),
    "course": (".course", "Lessons on privacy, with exercises that are worked out."),
    "anonymize": (".synth", "A k-anonymous copy of a table, or what one is worth."),
    "audit": (".privacy_loss", "How much privacy a mechanism loses at the very least."),
    "run": (".owner", "What a schedule has due: each line once a period."),
    "budget": (".privacy_loss", "What is spent, what is left, who is most exposed."),
    "sheet": (".owner", "A data-protection impact sheet, as a document."),
    "storage": (
        ".owner",
        "Where private things lie at rest, and what encrypts each place.",
    ),
    "ledger": (".ledger", "Verify, back up or restore the ledger."),
    "completion": (".completion", "Let your shell complete commands and options."),
    "explain": (".privacy_loss", "What an epsilon promises, in plain words."),
}
"""Each command, the module that holds it (seen from here), and its one line in the list."""

HELP = """Usage: discreet COMMAND [OPTIONS]

Private answers about people's data, with error bars, a price and a proof.

Commands:
{commands}

First try:  discreet demo
Then:       discreet query "SELECT COUNT(*) AS n FROM people" --epsilon 0.1
More:       discreet COMMAND --help
"""


def help_text() -> str:
    """Return the list of commands; nothing is imported for it."""
    lines = [f"  {name:<12}{line}" for name, (_, line) in COMMANDS.items()]
    return HELP.format(commands="\n".join(lines))


def run(arguments: list[str]) -> int:
    """Return the exit status of a command: 0, 1 for a user's mistake, 2 for wrong usage."""
    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        say(help_text())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from discreet import __version__

        say(f"discreet {__version__}")
        return 0
    if arguments[0] not in COMMANDS:
        close = get_close_matches(arguments[0], COMMANDS, n=1)
        meant = f" Did you mean '{close[0]}'?" if close else f"\n\n{help_text()}"
        say(f"discreet: there is no command '{visible(arguments[0])}'.{meant}", to_errors=True)
        return 2
    return _run_command(arguments[0], arguments[1:])


def _run_command(name: str, arguments: list[str]) -> int:
    try:
        command = command_of(name, arguments)
        command.main(args=arguments, prog_name=f"discreet {name}", standalone_mode=True)
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:
        say("Stopped.", to_errors=True)
        return 1
    except DiscreetError as error:
        said = (
            json.dumps(error.to_json()) if "--json" in arguments else visible(f"discreet: {error}")
        )
        say(said, to_errors=True)
        return 1
    except Exception as error:
        if "DISCREET_DEBUG" in os.environ:
            raise
        # A traceback could show values from rows; the kind of error cannot.
        kind = type(error).__name__
        say(f"discreet: our own mistake ({kind}); please report it.", to_errors=True)
        say("With DISCREET_DEBUG=1 the details are shown; they may be private.", to_errors=True)
        return 1
    return 0


def command_of(name: str, arguments: Sequence[str] = ()) -> Any:
    """Return one command, importing only its own module (and what `arguments` name in it)."""
    from typer.main import get_command

    from discreet.cli.command import command_group

    module: Any = import_module(COMMANDS[name][0], "discreet.cli")
    app = module.build(arguments) if hasattr(module, "build") else getattr(module, "app", None)
    if app is None:
        app = command_group()
        app.command(name)(getattr(module, name))
    return get_command(app)
