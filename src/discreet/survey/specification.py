"""SURVEY.toml: a survey's questions, epsilon and limits, read and checked.

Every mistake is one sentence, and costs nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.display import visible
from discreet.base.files import read_text
from discreet.base.numbers import Epsilon, round_down
from discreet.errors import InvalidInput
from discreet.survey.randomizers.base import NumberRange
from discreet.survey.randomizers.prefix_tree import LEVELS, MOST_LEVELS

_DIGITS = 12
MOST_REPORTS, MOST_MB = 200_000, 256
"""What one survey takes unless its owner says otherwise, or expects more respondents."""


class QuestionKind(StrEnum):
    """What may be answered: yes or no, one of the options, a number, or any word."""

    YES_NO = "yes-no"
    CHOICE = "choice"
    NUMBER = "number"
    OPEN = "open"


def _setting(words: str, default: Any = MISSING) -> Any:
    """Return a field with what it means; without a default it must be stated."""
    return field(metadata={"help": words}, default=default)


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question of a survey; every field is public."""

    name: str = _setting(
        "The name after [questions.], used in results and as the column of answers."
    )
    kind: QuestionKind = _setting("yes-no, choice, number or open.")  # noqa: RUF009  # a field
    text: str = _setting("The question as it is put to respondents.")
    options: tuple[str, ...] = _setting("The answers of a choice, in order.", ())
    lower: float = _setting("The least number that may be answered.", 0.0)
    upper: float = _setting("The greatest number that may be answered.", 1.0)
    candidates: str = _setting(
        "A file of words, one a line, that an open question is read for.", ""
    )
    mechanism: str = _setting("The randomizer, if it is not to be chosen.", "")
    rows: int = _setting("Rows of the sketch of an open question; 0: chosen.", 0)
    buckets: int = _setting("Buckets of the sketch of an open question.", 1024)
    levels: int = _setting(
        "Bytes of a word that a prefix tree finds; more need more respondents.", 8
    )


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey: what is asked, and what each respondent is promised."""

    name: str = _setting("The file's stem.")
    title: str = _setting("What the survey is called.")
    epsilon: Epsilon = _setting("Promised to each device, for the whole survey.")  # noqa: RUF009  # a field
    questions: tuple[SurveyQuestion, ...] = _setting("The questions, in order.")
    waves: int = _setting("In how many waves it is asked at most; each is answered once.", 1)
    donations_per_day: int = _setting(
        "Of earlier versions, without effect: a device sends one report for each wave.", 1
    )
    changes: int = _setting("Of earlier versions: the same as waves = 1 + changes.", 0)
    respondents: int = _setting("How many are expected; 0: not said.", 0)
    most_reports: int = _setting("How many reports are taken at most.", MOST_REPORTS)
    most_mb: int = _setting("How large the file of reports may grow, in MB.", MOST_MB)

    @property
    def question_epsilon(self) -> Fraction:
        """Return the share of each report of one question, rounded down at the twelfth digit.

        The whole is divided by the number of questions and by the number of waves: what is lost in a
        wave does not depend on whether an answer changed, so each wave has a share of its own.

        >>> from discreet.survey.specification import survey_of
        >>> two = {"title": "t", "epsilon": "2", "questions": {"a": {"kind": "yes-no"}, "b": {"kind": "yes-no"}}}
        >>> survey_of(two, name="s").question_epsilon
        Fraction(1, 1)
        """
        parts = len(self.questions) * self.waves
        return round_down(self.epsilon.value / parts, digits=_DIGITS)


def settings_of(kind: type[Survey | SurveyQuestion]) -> dict[str, str]:
    """Return each setting that a TOML file may have, with what it means."""
    return {each.name: each.metadata["help"] for each in fields(kind) if each.name != "name"}


MOST_QUESTIONS = 64
MOST_OPTIONS = 100_000
LONGEST_TEXT = 2_000
LARGEST_FILE = 4_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_ONLY = {
    "options": {QuestionKind.CHOICE},
    "lower": {QuestionKind.NUMBER},
    "upper": {QuestionKind.NUMBER},
}
_ONLY |= {setting: {QuestionKind.OPEN} for setting in ("candidates", "rows", "buckets", "levels")}


def read_survey(path: Path) -> Survey:
    """Return the survey that a file states, or refuse it with one sentence."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InvalidInput(f"'{path.name}' is too large for a survey.")
        stated = tomllib.loads(read_text(path, encoding="utf-8-sig"), parse_float=Decimal)
    except FileNotFoundError:
        raise InvalidInput(f"There is no file '{path.name}'.") from None
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"'{path.name}' cannot be read as text.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"'{path.name}' is not valid TOML: {visible(str(error))}") from None
    return survey_of(stated, name=path.stem)


def survey_of(stated: Mapping[str, Any], *, name: str) -> Survey:
    """Return the survey that a table states.

    >>> survey_of({"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}, name="s").name
    's'
    """
    check_name(name, "The name of a survey (its file's stem)")
    _known(stated, settings_of(Survey), "A survey")
    questions = stated.get("questions")
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidInput(
            "The survey asks nothing.", hint='Write for example [questions.smokes] kind = "yes-no".'
        )
    if len(questions) > MOST_QUESTIONS:
        raise InvalidInput(f"A survey has at most {MOST_QUESTIONS} questions.")
    respondents = _whole(stated, "respondents", "The survey", (0, 10**12), 0)
    changes = _whole(stated, "changes", "The survey", (0, 1_000), 0)
    if "changes" in stated and "waves" in stated:
        raise InvalidInput("The survey has both waves and changes.", hint="Write waves only.")
    return Survey(
        name=name,
        title=_text(stated, "title", "The survey", required=True),
        epsilon=_epsilon(stated),
        questions=tuple(_question(key, table) for key, table in questions.items()),
        donations_per_day=_whole(stated, "donations_per_day", "The survey", (1, 1_000), 1),
        changes=changes,
        waves=_whole(stated, "waves", "The survey", (1, 1_000), 1 + changes),
        respondents=respondents,
        most_reports=_whole(
            stated, "most_reports", "The survey", (1, 10**12), max(MOST_REPORTS, respondents)
        ),
        most_mb=_whole(stated, "most_mb", "The survey", (1, 10**6), MOST_MB),
    )


def _epsilon(stated: Mapping[str, Any]) -> Epsilon:
    written = stated.get("epsilon")
    if isinstance(written, bool) or not isinstance(written, int | float | str | Decimal):
        raise InvalidInput("The survey has no epsilon.", hint="Write for example epsilon = 2.0.")
    return Epsilon.of(written)


def _question(name: str, table: Any) -> SurveyQuestion:
    check_name(name, "The name of a question")
    where = f"The question '{name}'"
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{where} must be a table.", hint=f"Write [questions.{name}].")
    _known(table, settings_of(SurveyQuestion), where)
    kind = _kind(table, where)
    for setting, kinds in _ONLY.items():
        if setting in table and kind not in kinds:
            raise InvalidInput(f"{where} is '{kind}', which has no '{setting}'.")
    lower, upper = (
        (_bound(table, end, where) for end in ("lower", "upper"))
        if (kind is QuestionKind.NUMBER)
        else (0.0, 1.0)
    )
    NumberRange.of(lower, upper)
    return SurveyQuestion(
        name=name,
        kind=kind,
        text=_text(table, "text", where) or name,
        options=_options(table, where) if kind is QuestionKind.CHOICE else _fixed_options(kind),
        lower=lower,
        upper=upper,
        candidates=_beside(table, "candidates", where),
        mechanism=_text(table, "mechanism", where),
        rows=_whole(table, "rows", where, (0, 1 << 14), 0),
        buckets=_whole(table, "buckets", where, (2, 1 << 14), 1024),
        levels=_whole(table, "levels", where, (1, MOST_LEVELS), LEVELS),
    )


def _kind(table: Mapping[str, Any], where: str) -> QuestionKind:
    kinds = ", ".join(QuestionKind)
    if table.get("kind") not in tuple(QuestionKind):
        raise InvalidInput(f"{where} needs a kind.", hint=f"One of: {kinds}.")
    return QuestionKind(table["kind"])


def _fixed_options(kind: QuestionKind) -> tuple[str, ...]:
    return ("yes", "no") if kind is QuestionKind.YES_NO else ()


def _options(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    written = table.get("options")
    if not isinstance(written, list) or not 2 <= len(written) <= MOST_OPTIONS:
        raise InvalidInput(
            f"{where} needs between 2 and {MOST_OPTIONS:,} options.",
            hint='Write for example options = ["9", "10", "11", "12"].',
        )
    options = tuple(str(each).strip() for each in written if isinstance(each, str | int))
    if len(options) < len(written) or any(not 0 < len(each) <= 200 for each in options):
        raise InvalidInput(f"{where} has an option that is no text of 1 to 200 characters.")
    if len(set(options)) < len(options):
        raise InvalidInput(f"{where} has the same option twice.")
    return options


def _bound(table: Mapping[str, Any], end: str, where: str) -> float:
    written = table.get(end)
    if isinstance(written, bool) or not isinstance(written, int | float | Decimal):
        raise InvalidInput(f"{where} needs lower and upper, both numbers.")
    try:
        return float(written)
    except OverflowError:
        raise InvalidInput(f"{where} has bounds beyond any sensible number.") from None


def _whole(
    table: Mapping[str, Any], key: str, where: str, limits: tuple[int, int], default: int
) -> int:
    written = table.get(key, default)
    whole = isinstance(written, int) and not isinstance(written, bool)
    if not whole or not limits[0] <= written <= limits[1]:
        raise InvalidInput(
            f"{where} has a '{key}' that is no whole number from {limits[0]:,} to {limits[1]:,}."
        )
    return int(written)


def _text(table: Mapping[str, Any], key: str, where: str, *, required: bool = False) -> str:
    written = table.get(key, "")
    if not isinstance(written, str) or len(written) > LONGEST_TEXT or (required and not written):
        raise InvalidInput(f"{where} needs a {key}, a text of at most {LONGEST_TEXT:,} characters.")
    return written.strip()


def _beside(table: Mapping[str, Any], key: str, where: str) -> str:
    """Return the name of a file beside SURVEY.toml; one that leads elsewhere is refused."""
    name = _text(table, key, where)
    plain = name == Path(name).name and not name.startswith(".") and name.isprintable()
    if name and (not plain or len(name.encode()) > 200):
        raise InvalidInput(
            f"{where} needs as {key} the plain name of a file beside the survey's own."
        )
    return name


def _known(table: Mapping[str, Any], settings: Mapping[str, str], where: str) -> None:
    for key in table:
        if key not in settings:
            raise InvalidInput(
                f"{where} has no setting '{visible(str(key))[:40]}'.",
                hint=f"It has: {', '.join(settings)}.",
            )


def check_name(name: str, what: str) -> None:
    """Refuse a name that cannot stand in an address; `what` says whose it is."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{what} has up to 64 letters, digits, hyphens and underscores, not '{visible(name)[:40]}'."
        )
