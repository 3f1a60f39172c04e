"""`discreet completion`: a script by which a shell completes commands, their parts and options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.terminal import say
from discreet.errors import InvalidInput

_BASH = """_discreet() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" key="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"
  else case "$key" in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ ${{#COMPREPLY[@]}} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _discreet discreet
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
_FISH = "complete -c discreet -n __fish_use_subcommand -a '{commands}'\n"
_FISH_LINE = "complete -c discreet -n '__fish_seen_subcommand_from {name}' -a '{words}'\n"


def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")],
) -> None:
    """Print a script that lets your shell complete commands and options.

    Example: discreet completion bash > ~/.local/share/bash-completion/completions/discreet
    """
    from discreet.cli.app import COMMANDS, command_of

    if shell not in ("bash", "zsh", "fish"):
        raise InvalidInput("The shell is bash, zsh or fish.", hint="discreet completion bash")
    words = {name: " ".join(_words(command_of(name))) for name in COMMANDS}
    say(_script(shell, words).rstrip("\n"))


def _script(shell: str, words: dict[str, str]) -> str:
    commands = " ".join(words)
    if shell == "fish":
        lines = [_FISH_LINE.format(name=name, words=found) for name, found in words.items()]
        return _FISH.format(commands=commands) + "".join(lines)
    cases = "\n".join(f'    {name}) words="{found}";;' for name, found in words.items())
    return ("" if shell == "bash" else _ZSH) + _BASH.format(commands=commands, cases=cases)


def _words(command: Any) -> list[str]:
    """Return the parts of a command and its options, in a fixed order."""
    parts = getattr(command, "commands", {})
    pages = [command, *parts.values()]
    options = {o for page in pages for p in page.params for o in p.opts if o.startswith("--")}
    return [*sorted(parts), *sorted(options | {"--help"})]
