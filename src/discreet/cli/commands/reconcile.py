"""`discreet reconcile FILE.json`: answers that contradict each other, made consistent."""

from __future__ import annotations

import json as json_text
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import Json
from discreet.cli.terminal import say
from discreet.core.system.regular_file import read_text
from discreet.errors import InvalidInput

KNOWN = {"values", "variances", "equations", "non_negative", "integer"}


def reconcile(
    file: Annotated[Path, typer.Argument(help="JSON with values, variances and equations.")],
    non_negative: Annotated[bool, typer.Option("--non-negative", help="No value below 0.")] = False,
    integer: Annotated[bool, typer.Option("--integer", help="Whole numbers only.")] = False,
    json: Json = False,
) -> None:
    """Make noisy answers agree with linear equations, by least squares weighted by their noise.

    FILE.json holds {"values": {"total": 2005, "male": 1001, "female": 995}, "variances": {"total": 8,
    "male": 50, "female": 32}, "equations": ["total = male + female"]}. It reads no data and is free.

    Example: discreet reconcile answers.json --integer
    """
    from discreet.publish.reconcile.answers import reconcile as solve

    given = _read(file)
    found = solve(
        given["values"],
        given["variances"],
        given["equations"],
        non_negative=non_negative or bool(given.get("non_negative", False)),
        integer=integer or bool(given.get("integer", False)),
    )
    if json:
        say(json_text.dumps({"values": found}))
        return
    width = max((len(name) for name in found), default=0)
    for name, value in found.items():
        say(
            f"{name:<{width}}  {value:,.6g}"
            if isinstance(value, float)
            else f"{name:<{width}}  {value:,}"
        )


def _read(file: Path) -> dict[str, Any]:
    def refuse(text: str) -> None:
        raise InvalidInput(f"'{file}' holds {text}, which is not a number.")

    try:
        given = json_text.loads(read_text(file), parse_float=Decimal, parse_constant=refuse)
    except OSError as error:
        raise InvalidInput(f"'{file}' cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidInput(f"'{file}' is not JSON.") from None
    wanted = ("values", "variances", "equations")
    if not isinstance(given, dict) or any(name not in given for name in wanted):
        raise InvalidInput(f"'{file}' must hold values, variances and equations.")
    if unknown := sorted(set(given) - KNOWN):
        raise InvalidInput(f"'{file}' holds '{unknown[0]}', which means nothing here.")
    return given
