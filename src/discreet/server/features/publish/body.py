"""From the words of the HTTP API to a release."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictStr

LONGEST = 60_000


class SpecBody(BaseModel):
    """A release as its SPEC.toml describes it."""

    model_config = ConfigDict(extra="forbid")

    spec: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST)]


class ApprovalBody(BaseModel):
    """What was read before it was approved: the digest of the draft's spec and files."""

    model_config = ConfigDict(extra="forbid")

    digest: Annotated[StrictStr, Field(pattern="[0-9a-f]{64}", max_length=64)]


class ReasonBody(BaseModel):
    """Why a release is withdrawn; it is written into the ledger's history."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
