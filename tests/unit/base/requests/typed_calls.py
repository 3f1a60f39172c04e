"""Read by mypy alone (`files` in pyproject.toml): a wrong argument of a method made by `@asks` is an error.

Each ignore says which; one that is no longer needed is an error itself, as strict mypy reports unused ignores.
"""

from __future__ import annotations

import discreet
from discreet.base.answer import Answer
from discreet.curator import Curator
from discreet.curator.client import Client


def _asked(curator: Curator, client: Client) -> None:
    answer: Answer = curator.query("SELECT", epsilon=1, fresh=True)
    client.query(sql="SELECT", within="5%", analyst=answer.provenance.dataset)
    curator.query("SELECT", colour="red")  # type: ignore[call-arg]
    client.query("SELECT", 1)  # type: ignore[call-arg]
    curator.query(1)  # type: ignore[arg-type]
    curator.rehearse("SELECT")  # type: ignore[call-arg]
    curator.learn("people", target="job", epsilon=1, progress=lambda done, of, what: None)
    curator.learn("people", target="job", epsilon=1, progress=1)  # type: ignore[arg-type]
    client.learn("people", target="job", epsilon=1, choose=["auto"])  # type: ignore[call-arg]
    curator.anonymize("people", quasi=["age"])  # type: ignore[call-arg]
    discreet.synthesize("people.csv", epsilon=1, table="people")  # type: ignore[call-arg]
    curator.query("SELECT", epsilon=1).rows + 1  # type: ignore[operator]
