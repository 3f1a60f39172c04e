"""From the words of the HTTP API to an anonymization."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, StrictStr

from discreet.anonymize.hierarchy.levels import Hierarchy, parse_hierarchy
from discreet.anonymize.request import AnonymizeRequest
from discreet.core.requests.anonymize import MOST_COLUMNS, AnonymizeAsked
from discreet.server.features.query.asked_body import body_of

MOST_SECONDS = 300.0

_Fields: Any = body_of(
    AnonymizeAsked,
    quasi={"default": ...},
    k={"default": 5},
    seconds={"default": 30.0, "most": MOST_SECONDS},
)


class AnonymizeBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One anonymization. `hierarchies` holds a text for each column: value;level;level on a line."""

    table: StrictStr = Field(min_length=1, max_length=400, description="The table to copy.")
    hierarchies: dict[str, Annotated[StrictStr, Field(max_length=1 << 20)]] = Field(
        default_factory=dict, max_length=MOST_COLUMNS
    )

    def wish(self) -> AnonymizeRequest:
        """Return the wish, or say which word or number makes no sense."""
        asked = self.given(AnonymizeAsked) | {"hierarchies": None}
        return replace(AnonymizeRequest.of(**asked), given=self._given())

    def _given(self) -> dict[str, Hierarchy]:
        return {column: parse_hierarchy(text, column) for column, text in self.hierarchies.items()}
