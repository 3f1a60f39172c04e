"""Commands of whoever holds the data: `discreet init`, `review`, `refresh`, `run`, `sheet`, `storage`.

Propose discreet.toml, and see what each declaration loses and reveals; let questions read the rows as they are
now; what a schedule has due; a data-protection impact sheet; what encrypts each place.
"""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.base.display import visible
from discreet.base.requests.unpaid import InitFields, ReviewFields
from discreet.cli.command import Config, Json, reading, waiting, with_options
from discreet.cli.terminal import say, tell


@with_options(InitFields, limited=("max_rows",))
def init(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV or Parquet files, postgresql://HOST/DB/SCHEMA.TABLE, duckdb:FILE/TABLE.",
        ),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    **asked: Any,
) -> None:
    """Propose discreet.toml for the owner to review.

    What was read from the data waits for review: queries refuse it until the owner has checked it.

    Example: discreet init people.csv --epsilon 1 --unit row
    """
    from discreet.tasks.init import init as propose

    done = propose(*files, **asked, progress=reading())
    tell(done, lambda: _words(done), json=json)


def _words(summary: dict[str, Any]) -> str:
    lines = [f"Wrote {summary['out']}: dataset '{summary['dataset']}'."]
    for name, columns in summary["tables"].items():
        kinds = ", ".join(f"{visible(column)} {kind}" for column, kind in columns.items())
        lines.append(f"  {name}: {kinds}")
    lines += [f"Care: {visible(warning)}" for warning in summary["warnings"]]
    for column, said in summary["lost"].items():
        lines += [f"Care: {visible(column)}: {visible(words)}." for words in said]
    lines += [f"Next: {todo}" for todo in summary["todo"]]
    return "\n".join(lines)


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
    from discreet.data.catalog.policy_file import meant_file
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
    from discreet.base.schema import IMMUTABLE_WORDS

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


def refresh(
    dataset: Annotated[str | None, typer.Argument(help="The dataset; all unless given.")] = None,
    *,
    table: Annotated[
        str | None,
        typer.Option(help="One table of it; those whose rows are told apart go with it."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Say what questions read; begin nothing.")
    ] = False,
    json: Json = False,
    config: Config = None,
) -> None:
    """Begin a new version of the data: questions read the rows as they are now, and pay anew.

    Between two versions nobody who asks can see whether rows have changed. How versions begin by
    themselves is `refresh` in discreet.toml.

    Example: discreet refresh hospital
    """
    from discreet.curator import open as open_curator

    with open_curator(config) as curator, waiting("Looking at the rows"):
        if table is not None and dataset is None:
            dataset = curator.catalog.named(table)[0].name
            table = table.rpartition(".")[2]
        found = curator.versions(dataset) if show else curator.refresh(dataset, table=table)
    tell({"versions": found}, lambda: "\n".join(map(version_words, found)), json=json)


def version_words(version: dict[str, Any]) -> str:
    """Return what is known of the version of some tables, in one line.

    >>> version_words({"dataset": "town", "tables": ["people"], "version": None, "refresh": "daily"})
    'town people: nobody has asked yet (refresh = "daily")'
    """
    place = visible(f"{version['dataset']} {', '.join(version['tables'])}")
    if version["version"] is None:
        return f'{place}: nobody has asked yet (refresh = "{version["refresh"]}")'
    since = version["began"][:16].replace("T", " ")
    said = f"{place}: version {version['version']} since {since}"
    said += f' (refresh = "{version["refresh"]}")'
    if version["changed"]:
        said += f"; other rows by now in {visible(', '.join(version['changed']))}"
    return said


_SAID = {"before": "already done by another run"}


def run(
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="The SCHEDULE.toml to run.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    config: Config = None,
) -> None:
    """Run the questions, releases and renewals of a schedule that are due, each once a period.

    Let cron or a timer start it as often as you like: what was paid for in this period is not paid for again.

    Example: discreet run SCHEDULE.toml
    """
    from discreet.data.catalog.policy_file import meant_file
    from discreet.tasks.schedule import run_schedule

    failed = 0
    for done in run_schedule(schedule, meant_file(config)):
        failed += done.outcome == "failed"
        if json:
            say(json_text.dumps(done.to_json()))
            continue
        why = "" if done.error is None else f": {done.error['message']}"
        paid = f", epsilon {done.epsilon:g}" if done.epsilon else ""
        where = f" -> {done.out}" if done.out else ""
        said = _SAID.get(done.outcome, done.outcome)
        say(visible(f"{done.line} {done.period} {said}{paid}{where}{why}"))
    if failed:
        raise typer.Exit(1)


def sheet(
    *,
    out: Annotated[Path, typer.Option(help="Where to write it: .html or .json.")],
    config: Config = None,
) -> None:
    """Write what a data-protection officer asks for, from the catalog and the ledger; reads no row.

    Example: discreet sheet --out sheet.html
    """
    from discreet.show import write
    from discreet.tasks.sheet import sheet as impact_sheet

    write(impact_sheet(config), out)
    say(f"{out} written. It has questions that only people can answer.")


def storage(
    *,
    config: Config = None,
    json: Json = False,
) -> None:
    """Show where rows, answers and charges lie at rest, and what encrypts each place; reads no row.

    Example: discreet storage
    """
    from discreet.tasks.sheet import storage as storage_report

    found = storage_report(config)
    if json:
        say(json_text.dumps(found.to_json()))
        return
    width = max(len(place.what) for place in found.places)
    for place in found.places:
        say(f"{place.what:<{width}}  {place.volume.rest.value:<9}  {place.volume.how}")
        say(f"{'':<{width}}             {place.path}")
    say("")
    if found.vouched:
        say(f"The operator vouches: {found.vouched}")
    elif found.required:
        say("[storage] encrypted = true: a catalog with a plain or unknown place is not opened.")
    else:
        say("Nothing is required. Write [storage] encrypted = true to refuse plain places.")
