"""`discreet token new|list|revoke`: who may use a server.

New tokens go to a file of their owner's, too: a CSV, or a sheet with links and QR codes to print.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json as json_text
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from discreet.base.display import visible
from discreet.base.numbers import Epsilon, Number, counted
from discreet.base.requests.server import ClassFields, TokenFields
from discreet.cli.command import Json, command_group, those_of, with_options
from discreet.cli.terminal import say
from discreet.errors import InvalidInput

Row = tuple[str, str, str]
"""Who, in which role, and the token's text."""


def classes() -> ModuleType:
    """Return the server's module of classes; only where its extra is installed."""
    from discreet.cli.serve import server_parts

    server_parts("Tokens")
    from discreet.server.access import tokens as found

    return found


@contextmanager
def written_once(out: Path | None, url: str) -> Iterator[Callable[[Sequence[Row]], None] | None]:
    """Lend a function that writes tokens to a new file only its owner can read."""
    if out is None:
        yield None
        return
    if out.suffix == ".html" and not url.startswith(("http://", "https://")):
        raise InvalidInput(f"'{url[:80]}' is no address.", hint="Use --url https://NAME:PORT.")
    try:
        handle = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InvalidInput(f"'{out}' exists already.", hint="Name another with --out.") from None
    except OSError:
        raise InvalidInput(f"'{out}' cannot be written.") from None
    with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:

        def write(rows: Sequence[Row]) -> None:
            file.write(_sheet(rows, url) if out.suffix == ".html" else _csv(rows))

        try:
            yield write
        except BaseException:
            out.unlink(missing_ok=True)
            raise


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("analyst", "role", "token"))
    writer.writerows(rows)
    return text.getvalue()


def _sheet(rows: Sequence[Row], url: str) -> str:
    from discreet.show.qr import SheetCard, sign_in_sheet

    base = url.rstrip("/")
    cards = [SheetCard.of(name or role, f"{base}/ask?token={text}") for name, role, text in rows]
    return sign_in_sheet(f"{len(cards)} links", f"They sign in at {base}.", cards)


app = command_group(help="Make, list and revoke the tokens of a server.")

Config = Annotated[Path, typer.Option(help="The discreet.toml of the server.")]
TOML = Path("discreet.toml")


@app.command()
@with_options(TokenFields)
@with_options(ClassFields, leave=("expires_days",), limited=("size",))
def new(
    *,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Datasets of the share; all unless given.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write to this new file: a CSV, or a sheet to print if it ends in .html."
        ),
    ] = None,
    url: Annotated[
        str, typer.Option(help="The server's address, for the links and QR codes of a sheet.")
    ] = "http://127.0.0.1:8765",
    json: Json = False,
    config: Config = TOML,
    **asked: Any,
) -> None:
    """Make a token, or a whole class of them, each with a budget of its own.

    Example: discreet token new --class 300 --epsilon 0.5 --out tokens.csv
    """
    token = TokenFields(**those_of(TokenFields, asked))
    group = ClassFields(**those_of(ClassFields, asked))
    names, label = _names(token.analyst, group.size, group.name), token.label
    with _opened(config) as (tokens, Role), written_once(out, url) as write:
        wanted = Role.of(token.role or ("analyst" if names else "owner"))
        asks = wanted is Role.ANALYST
        notes = _declared(config, names, group.epsilon, dataset or ()) if asks else []
        if asks and group.epsilon is not None:
            classes().tell_shares(tokens.audit, names, group.epsilon, dataset or ())
        if group.size is not None and not label:
            label = classes().class_label(group.name)
        holders: list[str | None] = [*names] or [None]
        made = tokens.new_many(wanted, holders, expires_days=token.expires_days, label=label)
        rows = [(item.token.analyst or "", wanted.value, item.text) for item in made]
        if write is not None:
            write(rows)
    if json:
        listed = [] if out else [item.token.to_json() | {"token": item.text} for item in made]
        say(json_text.dumps({"made": len(made), "tokens": listed, "notes": notes}))
        return
    for note in notes:
        say(note)
    if out is not None:
        say(f"{counted(len(made), 'token')} written to {out}. They cannot be shown again.")
        return
    for name, _, text in rows:
        say(f"{visible(name)}  {text}" if name else text)
    say("Shown this once; keep it like a password.")


@app.command(name="list")
def listed(*, json: Json = False, config: Config = TOML) -> None:
    """List all tokens; never their texts.

    Example: discreet token list
    """
    from discreet.server.access.audit_log import COMMAND_LINE, AuditAction

    with _opened(config) as (tokens, _):
        tokens.audit.record(COMMAND_LINE, AuditAction.TOKENS_LISTED)
        found = [token.to_json() for token in tokens.all()]
    if json:
        say(json_text.dumps({"tokens": found}))
        return
    for token in found:
        state = "valid" if token["valid"] else "revoked" if token["revoked"] else "expired"
        until = f"until {_day(token['expires'])}" if token["expires"] else "no end"
        who, label = visible(token["analyst"] or ""), visible(token["label"])
        say(f"{token['id']}  {token['role']:<9}{state:<9}{until:<18}{who}  {label}")
    if not found:
        say("There are no tokens yet. Make one with: discreet token new --role owner")


@app.command()
def revoke(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids as shown by: discreet token list.")
    ] = None,
    *,
    class_name: Annotated[
        str | None, typer.Option("--class", help="All tokens of the class with this name.")
    ] = None,
    json: Json = False,
    config: Config = TOML,
) -> None:
    """Make tokens useless, at once and for good, also in open sessions; a class all together.

    Example: discreet token revoke 1f0c7a2b9d3e4f56
    """
    if bool(ids) is (class_name is not None):
        raise InvalidInput("Name either tokens by their ids, or a class by --class NAME.")
    with _opened(config) as (tokens, _):
        if class_name is not None:
            ended = classes().end_class(tokens, class_name)
            shown = {"class": class_name, "ended": ended}
            words = (
                f"The class '{visible(class_name)}' has ended: {counted(ended, 'token')} revoked."
            )
            say(json_text.dumps(shown) if json else words)
            return
        done = [tokens.revoke(token_id).to_json() for token_id in ids or ()]
    say(json_text.dumps({"revoked": done}) if json else f"Revoked: {', '.join(ids or ())}.")


def _names(analyst: str | None, size: int | None, prefix: str) -> list[str]:
    if size is None:
        return [] if analyst is None else [analyst]
    if analyst is not None:
        raise InvalidInput("Give either --analyst or --class.")
    classes().class_label(prefix)
    names: list[str] = classes().student_names(prefix, size)
    return names


def _declared(
    config: Path, names: Sequence[str], epsilon: Number | Epsilon | None, datasets: Sequence[str]
) -> list[str]:
    """Return notes for the owner after seeing to it that discreet.toml lists every analyst."""
    from discreet.curator import add_analysts
    from discreet.curator import open as open_curator
    from discreet.data.catalog.writer import share_notes

    if not names:
        raise InvalidInput("An analyst's token needs --analyst NAME.")
    with open_curator(config) as curator:
        catalog = curator.catalog
    missing = [name for name in names if name not in catalog.analysts]
    if epsilon is None:
        if missing:
            raise InvalidInput(
                f"discreet.toml lists no analyst '{missing[0]}'.",
                hint="Give --epsilon, the share of each, to add what is missing.",
            )
        return []
    first = not catalog.analysts
    new = add_analysts(config, names, epsilon=epsilon, datasets=datasets)
    notes = [f"{counted(len(names), 'analyst')} added to {config}."]
    if first:
        notes.append("From now on every question is asked in an analyst's name.")
    return [*notes, *share_notes(new)]


@contextmanager
def _opened(config: Path) -> Iterator[tuple[Any, Any]]:
    """Lend the tokens of the server of `config`, and the class of roles."""
    from discreet.cli.serve import server_parts

    parts = server_parts("Settings", "AccessDb", "Tokens", "Role")
    place = config / TOML.name if config.is_dir() else config
    with closing(parts.AccessDb(parts.Settings(config=place).state_folder)) as access:
        yield parts.Tokens(access), parts.Role


def _day(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()
