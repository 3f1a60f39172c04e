"""What an owner sends about a survey: a name and the text of its SURVEY.toml, or the words to look for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from discreet.core.requests.survey import EstimateFields
from discreet.errors import InvalidInput
from discreet.server.bodies.request_body import body_of
from discreet.server.plain_json import Body
from discreet.survey.estimate.request import EstimateRequest
from discreet.survey.spec.read import read_survey

MOST_WORDS = 5_000


class StatedSurvey(Body):
    """A survey to be looked at or begun."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$")]
    toml: Annotated[str, Field(max_length=200_000)]
    within: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Lend the text as a file of the survey's name; a refusal does not tell where it lay."""
        with tempfile.TemporaryDirectory(prefix="discreet-survey-") as folder:
            path = Path(folder) / f"{self.name}.toml"
            path.write_text(self.toml, encoding="utf-8")
            try:
                _name_no_files(path)
                yield path
            except InvalidInput as error:
                said = error.message.replace(str(path), path.name)
                raise InvalidInput(said, hint=error.hint) from None


def _name_no_files(path: Path) -> None:
    """Refuse a survey that names a file: whoever sends a survey may not read what lies on the server."""
    if any(question.candidates for question in read_survey(path).questions):
        raise InvalidInput(
            "A survey that is begun here cannot name a file of candidates.",
            hint="Leave 'candidates' out, and write the words on the survey's page.",
        )


_Fields: Any = body_of(EstimateFields)


class EstimateBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """What estimates are wanted for: words by open question, shares that add up, two questions to cross."""

    candidates: dict[str, Annotated[list[str], Field(max_length=MOST_WORDS)]] = Field({})

    def wanted(self) -> EstimateRequest:
        """Return the same as the survey's own value; a word that no device could tell is refused."""
        return EstimateRequest.of(**self.given(EstimateFields))
