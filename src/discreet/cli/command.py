"""What a command is made of: its options, and a sign of life on a terminal while it works.

Options that several commands have, and those made of the fields that a request has: names, types, defaults and
help texts are written once, so that they read the same everywhere.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import update_wrapper
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from discreet.base.display import Progress, silent, visible
from discreet.base.requests.fields import FieldKind, RequestField, request_fields
from discreet.errors import InvalidInput

Source = Annotated[
    str, typer.Argument(metavar="FILE|TABLE", help="A CSV or Parquet file, or a declared table.")
]
Accept = Annotated[
    bool, typer.Option("--accept", help="Declare the domains of a bare file public as they are.")
]
UnitOption = Annotated[
    str, typer.Option(help="Whom to protect in a bare file: 'row', or the person's column.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Config = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not in this folder.")
]


def command_group(**more: Any) -> typer.Typer:
    """Return a command to be filled, with what all of them have in common."""
    return typer.Typer(
        rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False, **more
    )


def comma_list(written: str | None) -> list[str]:
    """Return the words of a list with commas."""
    return [word.strip() for word in (written or "").split(",") if word.strip()]


Command = TypeVar("Command", bound=Callable[..., None])

_TYPES: dict[FieldKind, Any] = {
    FieldKind.TEXT: str,
    FieldKind.AMOUNT: str,
    FieldKind.WHOLE: int,
    FieldKind.NUMBER: float,
    FieldKind.FLAG: bool,
    FieldKind.TEXTS: str,
    FieldKind.PATH: Path,
}
_SEVERAL = (FieldKind.TEXTS, FieldKind.SETTINGS)


def with_options(
    request: type,
    *,
    leave: Collection[str] = (),
    limited: Collection[str] = (),
    **changed: Any,
) -> Callable[[Command], Command]:
    """Give a command the fields of a request as options, which it gets as `**asked`.

    `changed` maps a field to what differs here, such as another default or help text. Limits of
    those `limited` are shown, and beyond them it is wrong usage; others are refused by the request.
    """
    shown = {
        name: replace(each, **changed.get(name, {}))
        for name, each in request_fields(request).items()
        if name not in leave
    }

    def around(command: Command) -> Command:
        def run(**given: Any) -> None:
            command(**{name: _read(shown.get(name), value) for name, value in given.items()})

        update_wrapper(run, command)
        del run.__wrapped__  # type: ignore[attr-defined]  # its signature is not the command's
        more = [_parameter(each, limited=each.name in limited) for each in shown.values()]
        return signed(run, command, more)  # type: ignore[no-any-return]  # called by typer alone

    return around


def those_of(request: type, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return of all that a command was given what a request has."""
    return {name: asked[name] for name in request_fields(request) if name in asked}


def signed(run: Any, command: Callable[..., None], more: Sequence[inspect.Parameter]) -> Any:
    """Return `run` with the signature of `command` for typer to read; `more` stand before its own options."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    first = [each for each in own if each.kind is each.POSITIONAL_OR_KEYWORD]
    last = [each for each in own if each.kind is each.KEYWORD_ONLY]
    run.__annotations__ = {}
    run.__signature__ = inspect.Signature([*first, *more, *last])
    return run


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Return an option of a command."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _parameter(each: RequestField, *, limited: bool) -> inspect.Parameter:
    several = each.kind in _SEVERAL and (each.repeated or each.kind is FieldKind.SETTINGS)
    kind: Any = list[str] if several else _TYPES[each.kind]
    default = inspect.Parameter.empty if each.required else each.default
    if each.kind in _SEVERAL and not each.required:
        default = None
    if default is None:
        kind = kind | None
    plain = f"--{each.name.replace('_', '-')}"
    names = (
        ()
        if not each.option and len(each.name) > 1 and kind is not bool
        else (each.option or plain,)
    )
    limits: Any = {"min": each.least, "max": each.most} if limited else {}
    option = typer.Option(*names, **limits, help=each.help, metavar=each.metavar or None)
    return keyword(each.name, Annotated[kind, option], default)


def _read(each: RequestField | None, value: Any) -> Any:
    if each is None or each.kind not in _SEVERAL:
        return value
    if each.kind is FieldKind.SETTINGS:
        return settings(value or [])
    if each.repeated:
        return value or []
    return comma_list(value)


def settings(written: list[str]) -> dict[str, Any]:
    """Return NAME=VALUE settings; numbers are read as numbers, all else stays text."""
    found: dict[str, Any] = {}
    for item in written:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"Write a setting as NAME=VALUE, not '{item[:40]}'.")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
    return found


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show `what` with a moving sign on a terminal; nothing where output is not watched."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


@contextmanager
def counting(what: str) -> Iterator[Progress]:
    """Yield a function (done, of, step) that moves a bar on a terminal, and does nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich import progress as bar
    from rich.console import Console

    columns = (
        bar.TextColumn(f"{what}: {{task.description}}"),
        bar.BarColumn(),
        bar.TimeElapsedColumn(),
    )
    with bar.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=1)

        def tell(done: int, of: int, step: str) -> None:
            bars.update(task, completed=done, total=max(of, 1), description=step)

        yield tell


def reading() -> Callable[[str], None]:
    """Return a function that shows the current step on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda _: None
    from rich.console import Console

    status = Console(stderr=True).status("Reading")
    status.start()
    return lambda step: status.update(f"Reading {visible(step)}") if step else status.stop()
