"""What is attacked as a service: a curator here, or a running server."""

from __future__ import annotations

import os
from typing import TypeAlias

from discreet.api import Curator
from discreet.client import Client, connect
from discreet.errors import InvalidInput

TOKEN = "DISCREET_TOKEN"  # noqa: S105  # the name of a variable
OTHER_TOKEN = "DISCREET_OTHER_TOKEN"  # noqa: S105  # the name of a variable


AnsweringService: TypeAlias = Curator | Client
"""What an analyst holds: a curator here or a server elsewhere."""


def running(url: str, variable: str = TOKEN) -> Client:
    """Return a client of a running server; its token is read from the environment, never a command."""
    token = os.environ.get(variable, "")
    if not token:
        raise InvalidInput(
            f"Put the token for {url} into the variable {variable}.",
            hint="Options of a command can be seen by everybody on the machine.",
        )
    return connect(url, token=token)
