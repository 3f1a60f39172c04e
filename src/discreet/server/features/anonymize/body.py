"""From the words of the HTTP API to an anonymization."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from discreet.anonymize.hierarchy.levels import Hierarchy, parse_hierarchy
from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.source import AnonymizeSource, declared_source, find_table
from discreet.api import Curator

Name = Annotated[StrictStr, Field(min_length=1, max_length=400)]
MOST_COLUMNS = 60
MOST_SECONDS = 300.0


class AnonymizeBody(BaseModel):
    """One anonymization. `hierarchies` holds a text for each column: value;level;level on a line."""

    model_config = ConfigDict(extra="forbid")

    table: Name
    quasi: list[Name] = Field(min_length=1, max_length=MOST_COLUMNS)
    k: StrictInt = Field(5, ge=1, le=1_000_000)
    sensitive: Name | None = None
    l: StrictFloat | StrictInt | None = None  # noqa: E741 the model's own name
    diversity: StrictStr = Field("distinct", max_length=20)
    t: StrictFloat | StrictInt | None = None
    suppress: StrictFloat | StrictInt = Field(0.0, ge=0, le=1)
    cost: StrictStr = Field("discernibility", max_length=40)
    method: StrictStr = Field("optimal", max_length=20)
    redact: list[Name] = Field(default_factory=list, max_length=1000)
    where: StrictStr | None = Field(None, max_length=10_000)
    population: StrictInt | None = Field(None, ge=1, le=10**11)
    seconds: StrictFloat | StrictInt = Field(30.0, gt=0, le=MOST_SECONDS)
    hierarchies: dict[str, Annotated[StrictStr, Field(max_length=1 << 20)]] = Field(
        default_factory=dict, max_length=MOST_COLUMNS
    )

    def wish(self) -> AnonymizeRequest:
        """Return the wish, or say which word or number makes no sense."""
        found = AnonymizeRequest.of(
            k=self.k,
            quasi=self.quasi,
            sensitive=self.sensitive,
            l=self.l,
            diversity=self.diversity,
            t=self.t,
            suppress=float(self.suppress),
            cost=self.cost,
            method=self.method,
            redact=self.redact,
            seconds=float(self.seconds),
            population=self.population,
        )
        return replace(found, given=self._given())

    def _given(self) -> dict[str, Hierarchy]:
        return {column: parse_hierarchy(text, column) for column, text in self.hierarchies.items()}

    def source(self, curator: Curator) -> tuple[str, AnonymizeSource]:
        """Return the dataset and the table in the curator's engine, hidden columns marked."""
        dataset, name = find_table(curator.catalog, self.table)
        return dataset, declared_source(
            curator.engine, curator.catalog, dataset, name, where=self.where
        )
