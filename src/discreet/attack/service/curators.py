"""Curators to attack as a service: one in a folder of its own with analysts, or a running server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
import pyarrow as pa

from discreet.api import open as open_curator
from discreet.attack.counts.blocks import Bits
from discreet.attack.curator import Exhibit, write_catalog
from discreet.client import Client, connect
from discreet.core.answer import Answer
from discreet.core.numbers import Epsilon, Number
from discreet.errors import InvalidInput

TOKEN = "DISCREET_TOKEN"  # noqa: S105  # the name of a variable
OTHER_TOKEN = "DISCREET_OTHER_TOKEN"  # noqa: S105  # the name of a variable


class AnsweringService(Protocol):
    """What an analyst holds: a curator here or a server elsewhere."""

    def query(
        self,
        sql: str,
        *,
        epsilon: Number | Epsilon | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Return a private answer, or raise what refused it."""
        ...


def people_exhibit(bits: Bits) -> Exhibit:
    """Return a table of people: a public place each, and a secret bit."""
    rows = pa.table({"place": pa.array(np.arange(bits.size)), "secret": pa.array(bits)})
    top = max(1, bits.size - 1)
    return Exhibit(
        rows,
        {
            "place": f'type = "integer", lower = 0, upper = {top}',
            "secret": 'type = "boolean"',
        },
    )


@contextmanager
def curator_with(
    exhibit: Exhibit, *, epsilon: Number, shares: Mapping[str, Number] | None = None
) -> Iterator[AnsweringService]:
    """Yield a curator of one table `people`; with `shares` every analyst has a part of the budget."""
    with TemporaryDirectory(prefix="discreet-attack-") as folder:
        path = write_catalog(Path(folder), {"people": exhibit}, epsilon, 0)
        lines = [
            f"[analysts.{name}]\ndatasets = {{ victim = {{ epsilon = {share} }} }}\n"
            for name, share in (shares or {}).items()
        ]
        path.write_text(path.read_text(encoding="utf-8") + "".join(lines), encoding="utf-8")
        with open_curator(path) as curator:
            yield curator


def running(url: str, variable: str = TOKEN) -> Client:
    """Return a client of a running server; its token is read from the environment, never a command."""
    token = os.environ.get(variable, "")
    if not token:
        raise InvalidInput(
            f"Put the token for {url} into the variable {variable}.",
            hint="Options of a command can be seen by everybody on the machine.",
        )
    return connect(url, token=token)
