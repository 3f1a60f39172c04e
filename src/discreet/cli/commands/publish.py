"""`discreet publish`: a release once and for all, as one signed package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.request_options import with_options
from discreet.cli.terminal import tell
from discreet.cli.waiting import counting
from discreet.core.requests.publish import PublishFields
from discreet.errors import InvalidInput

Source = Annotated[
    Path | None, typer.Argument(metavar="SPEC", help="The SPEC.toml that describes the release.")
]
Rehearse = Annotated[
    bool, typer.Option("--rehearse", help="Try it on made-up rows: costs nothing. --out: .html.")
]
Approve = Annotated[
    bool, typer.Option("--approve", help="Approve a draft; with --out also release it.")
]
Digest = Annotated[
    str | None, typer.Option(help="With --approve: the digest of the draft that you have read.")
]
Key = Annotated[bool, typer.Option("--key", help="Show the owner's public key, and nothing else.")]
Withdraw = Annotated[
    str | None, typer.Option(help="Withdraw the release of this spec, for this reason.")
]


@with_options(PublishFields)
def publish(
    source: Source = None,
    *,
    rehearse: Rehearse = False,
    approve: Approve = False,
    digest: Digest = None,
    key: Key = False,
    withdraw: Withdraw = None,
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Publish many tables as one consistent, signed package, charging the budget first.

    Example: discreet publish SPEC.toml --out RELEASE.zip
    """
    from discreet.api import open as open_curator

    with open_curator(config) as curator:
        if key:
            tell({"key": curator.release_key()}, curator.release_key(), json=json)
            return
        spec, out, who = _spec(source), asked["out"], asked["who"]
        _check_out(out, rehearse=rehearse)
        if rehearse:
            _rehearse(curator, spec, out, who, json=json)
        elif withdraw is not None:
            found = curator.withdraw_release(spec, reason=withdraw, who=who)
            tell(found, f"{found['release']}: withdrawn. What it cost stays spent.", json=json)
        elif approve and out is None:
            found = curator.approve_release(spec, who=who, digest=digest)
            tell(found, f"{found['release']}: approved by {who}.", json=json)
        elif out is None:
            found = curator.draft_release(spec, who=who)
            words = f"{found['release']}: drafted. Nothing was charged.\n  digest {found['digest']}"
            tell(found, words, json=json)
        else:
            if approve:
                curator.approve_release(spec, who=who, digest=digest)
            _release(curator, spec, asked, json=json)


def _spec(source: Path | None) -> Path:
    if source is None:
        raise InvalidInput(
            "Say which release: a SPEC.toml.", hint="docs/publish.md has one to start from."
        )
    return source


def _check_out(out: Path | None, *, rehearse: bool) -> None:
    """Refuse a place that cannot be written to, before anything is paid."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise InvalidInput(f"There is no folder '{out.absolute().parent}'.")
    if out.is_dir():
        raise InvalidInput(f"'{out}' is a folder.")
    wanted = (".html", ".json") if rehearse else (".zip",)
    if out.suffix.lower() not in wanted:
        raise InvalidInput(f"'{out.name}' must end in {' or '.join(wanted)}.")


def _rehearse(curator: Any, spec: Path, out: Path | None, who: str, *, json: bool) -> None:
    from discreet.report.document import write

    found = curator.rehearse_release(spec, who=who)
    if out is not None:
        write(found.document(), out)
    lines = [f"{found.release}: rehearsed on made-up rows. Nothing was charged."]
    lines += [
        f"  {t.table}: {t.cells:,} cells, typical error {t.whole:,.3g}, intervals ± {t.half:,.3g}"
        for t in found.tables
    ]
    lines += [f"  Note: {notice}" for notice in found.notices]
    tell(found.to_json() | {"out": None if out is None else str(out)}, "\n".join(lines), json=json)


def _release(curator: Any, spec: Path, asked: dict[str, Any], *, json: bool) -> None:
    with counting("Publishing") as progress:
        found = curator.publish(spec, progress=progress, **asked)
    paid = "the stored package, free" if found.free else f"used {found.bill.price}"
    out = asked["out"]
    lines = [f"{found.release}: {out}", *(f"  {n}: {r:,} rows" for n, r in found.tables.items())]
    lines += [f"  {paid}", f"  key {found.key}", f"  check it: discreet verify {out}"]
    lines += [f"  Note: {notice}" for notice in found.notices]
    tell(found.to_json(), "\n".join(lines), json=json)
