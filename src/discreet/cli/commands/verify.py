"""`discreet verify RELEASE.zip`: checks a published package without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Json
from discreet.cli.terminal import tell


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
    from discreet.publish.recheck import verify_package
    from discreet.publish.verify import words

    said = verify_package(package, key=key, max_gb=max_gb)
    tell(said, lambda: "\n".join(words(said)), json=json)
    if not said["valid"]:
        raise typer.Exit(1)
