"""From the words of the HTTP API to a notebook."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

MOST_CELLS = 200

Title = Annotated[StrictStr, Field(min_length=1, max_length=200)]


class CellBody(BaseModel):
    """Text, or a question with the request id of its answer and whose share paid for it."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["text", "question"]
    text: StrictStr = Field("", max_length=20_000)
    sql: StrictStr = Field("", max_length=20_000)
    epsilon: StrictStr = Field("", max_length=40)
    answer: StrictStr = Field("", max_length=200)
    analyst: StrictStr | None = Field(None, max_length=200)
    view: Literal["table", "chart"] = "table"


class NotebookBody(BaseModel):
    """A notebook as its author writes it; a new one may begin with cells."""

    model_config = ConfigDict(extra="forbid")

    title: Title
    shared: StrictBool = False
    cells: list[CellBody] = Field(default_factory=list, max_length=MOST_CELLS)
