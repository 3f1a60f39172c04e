"""`discreet review`: see what each declaration loses and reveals, and accept or hide columns."""

from __future__ import annotations

import sys
from typing import Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.request_options import with_options
from discreet.cli.terminal import say, tell
from discreet.cli.waiting import reading
from discreet.core.escape_text import visible
from discreet.core.requests.declare import ReviewFields


@with_options(ReviewFields)
def review(
    *,
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Show what each declaration loses and reveals; for the owner's eyes only.

    On a terminal it then asks; elsewhere say what to do with --accept, --column and --hide.

    Example: discreet review --accept --hide note
    """
    from discreet.catalog.policy_file import meant_file
    from discreet.tasks.review import ReviewRequest, decide, look

    place = meant_file(config)
    tables = look(place, progress=reading())
    asks = not (json or any(asked.values())) and sys.stdin.isatty() and sys.stdout.isatty()
    if not json:
        say("\n".join(line for each in tables for line in table_words(each)))
    if asks:
        asked = _asked(tables)
    done = decide(ReviewRequest(config=place, **asked), tables)
    tell(done, lambda: "\n".join(_done_words(done)), json=json)


def table_words(each: Any) -> list[str]:
    """Return one line a column, with what is doubtful about it below."""
    from discreet.core.schema import IMMUTABLE_WORDS

    table = each.declared.table
    unit = "each row" if table.unit.is_row else f"each person in '{visible(table.unit.column)}'"
    whom = f"protects {unit}" if each.declared.unit_known else "says not yet whom it protects"
    name = visible(f"{each.declared.dataset}.{table.name}")
    lines = [f"{name}: {each.seen.losses.rows:,} rows; {whom}."]
    lines += [f"  ! {visible(warning)}" for warning in each.seen.warnings]
    if each.seen.trade:
        lines.append("  rows of a person that count, and the rows that are then left out:")
        shown = [f"{n:,}: {100 * (1 - kept):.2g}%" for n, kept in each.seen.trade]
        lines.append(f"    {'  '.join(shown)}   (noise grows in proportion to the first)")
    width = max((len(visible(c.column.name)) for c in each.seen.columns), default=0)
    for seen in each.seen.columns:
        domain = _cut(visible(seen.column.domain.words()))
        lines.append(f"  {visible(seen.column.name):<{width}}  {_state(seen):<9} {domain}")
        if not seen.column.hidden:
            read = _cut(visible(seen.column.spelling.words()))
            lines += [f"  {'':<{width}}            read: {read}"] if read else []
            lasting = [f"immutable: {IMMUTABLE_WORDS}"] if seen.column.immutable else []
            lines += [f"  {'':<{width}}  ! {visible(doubt)}" for doubt in (*seen.doubts, *lasting)]
    return lines


def _state(seen: Any) -> str:
    if seen.column.hidden:
        return "hidden"
    if seen.column.reviewed:
        return "declared"
    return "look" if seen.doubts else "safe"


def _cut(words: str) -> str:
    return words if len(words) <= 80 else f"{words[:77]}..."


def _asked(tables: list[Any]) -> dict[str, Any]:
    """Ask the owner once for all safe columns, then for each of the others."""
    safe = [name for each in tables for name in each.safe]
    say("")
    accept = bool(safe) and typer.confirm(
        f"Are the domains of {', '.join(map(visible, safe))} public knowledge?", default=False
    )
    names, hidden = [], []
    for each in tables:
        for seen in each.seen.columns:
            if _state(seen) != "look":
                continue
            full = f"{each.declared.dataset}.{each.declared.table.name}.{seen.column.name}"
            word = typer.prompt(
                f"{visible(seen.column.name)}: declare it as it stands (d), hide it (h), later (l)?",
                default="l",
            )
            if word[:1].lower() == "d":
                names.append(full)
            elif word[:1].lower() == "h":
                hidden.append(full)
    return {"accept_safe": accept, "accept": names, "hide": hidden}


def _done_words(done: dict[str, Any]) -> list[str]:
    lines = []
    for name, told in done["tables"].items():
        for what in ("accepted", "hidden"):
            chosen = [column for column, word in told["decided"].items() if word == what]
            if chosen:
                said = "Declared public" if what == "accepted" else "Hidden"
                lines.append(f"{said} in {visible(name)}: {', '.join(map(visible, chosen))}.")
        if told["waiting"]:
            lines.append(f"Waiting in {visible(name)}: {', '.join(map(visible, told['waiting']))}.")
    if any(told["safe"] and not told["decided"] for told in done["tables"].values()):
        lines.append("Next: discreet review --accept declares the safe ones public.")
    lines += [f"Next: {todo}" for todo in done["todo"]]
    return lines or ["Nothing waits for review."]
