"""`discreet publish`: a release once and for all, as one signed package; `discreet verify` and `reconcile`.

A package is checked without the data. Answers that contradict each other are made consistent.
"""

from __future__ import annotations

import json as json_text
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.base.files import read_text
from discreet.base.requests.paid import PublishFields
from discreet.cli.command import Config, Json, counting, with_options
from discreet.cli.terminal import say, tell
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
    from discreet.curator import open as open_curator

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
    from discreet.show.document import write

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


def verify(
    package: Annotated[Path, typer.Argument(help="The package to check.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The owner's public key, or a file that holds it."),
    ] = None,
    max_gb: Annotated[
        int,
        typer.Option(
            "--max-gb",
            min=1,
            help="Do not unpack a package of more gigabytes, or whose manifest has more than a 32nd of them.",
        ),
    ] = 2,
    json: Json = False,
) -> None:
    """Check a published package without the data: signature, price, sums, facts and rules.

    Ends with status 1 when something does not hold. Without --key the signature is checked by the key
    inside, which shows that the package is whole but not whose it is.

    Example: discreet verify RELEASE.zip --key KEY
    """
    from discreet.work.publish.recheck import verify_package
    from discreet.work.publish.verify import words

    said = verify_package(package, key=key, max_gb=max_gb)
    tell(said, lambda: "\n".join(words(said)), json=json)
    if not said["valid"]:
        raise typer.Exit(1)


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
    from discreet.work.publish.reconcile.answers import reconcile as solve

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
