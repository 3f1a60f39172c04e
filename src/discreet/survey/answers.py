"""ANSWERS.csv and lists of words: read, checked and turned into what randomizers take."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits
from discreet.base.display import visible
from discreet.base.files import open_regular
from discreet.errors import InvalidInput
from discreet.survey.plan import value_of
from discreet.survey.randomizers.count_mean import BLANKS, word_bytes
from discreet.survey.specification import QuestionKind, Survey, SurveyQuestion

_DELIMITERS = ",;\t|"
_LONGEST_CELL = 10_000


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """The answers to one question: who gave one, and the values of those."""

    answered: Bits
    values: Sequence[Any] | npt.NDArray[Any]


def read_answers(path: Path, survey: Survey) -> list[AnswerColumn]:
    """Return the answers of a CSV file, one column a question, one row a person."""
    rows = list(_rows(path))
    if not rows:
        raise InvalidInput(f"'{path.name}' is empty.")
    header = [cell.strip() for cell in rows[0][1]]
    for question in survey.questions:
        if header.count(question.name) != 1:
            raise InvalidInput(
                f"'{path.name}' must have one column '{question.name}'.",
                hint=f"Its first line must name: {', '.join(q.name for q in survey.questions)[:200]}.",
            )
    return [_column(rows[1:], header.index(each.name), each) for each in survey.questions]


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a CSV file that are not empty, with their numbers; the delimiter is sniffed."""
    try:
        with open_regular(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(_DELIMITERS, key=first.count)
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except FileNotFoundError:
        raise InvalidInput(f"There is no file '{path.name}'.") from None
    except (OSError, ValueError):
        raise InvalidInput(f"'{path.name}' cannot be read as text.") from None
    except csv.Error as error:
        raise InvalidInput(f"'{path.name}' is not CSV: {visible(str(error))}.") from None


def _column(
    rows: Sequence[tuple[int, list[str]]], at: int, question: SurveyQuestion
) -> AnswerColumn:
    read, known = _reader(question), {}
    answered = np.zeros(len(rows), dtype=np.bool_)
    values = []
    for index, (line, row) in enumerate(rows):
        cell = row[at].strip(BLANKS) if at < len(row) else ""
        if not cell:
            continue
        if cell not in known:
            try:
                known[cell] = read(cell)
            except InvalidInput as error:
                raise InvalidInput(f"Line {line}: {error.message}", hint=_hint(question)) from None
        answered[index] = True
        values.append(known[cell])
    plain: Any = values if question.kind is QuestionKind.OPEN else np.array(values)
    return AnswerColumn(answered, plain)


def _reader(question: SurveyQuestion) -> Callable[[str], int | float | str]:
    if question.kind is QuestionKind.YES_NO:
        return lambda cell: value_of(question, cell.lower())
    codes = {option: code for code, option in enumerate(question.options)}
    if question.kind is QuestionKind.CHOICE:
        return lambda cell: codes[cell] if cell in codes else value_of(question, cell)
    return lambda cell: value_of(question, cell[:_LONGEST_CELL])


def _hint(question: SurveyQuestion) -> str:
    if question.kind is QuestionKind.YES_NO:
        return "Write yes or no, or leave it empty."
    if question.kind is QuestionKind.NUMBER:
        return f"Write a number from {question.lower:g} to {question.upper:g}, or leave it empty."
    if question.kind is QuestionKind.OPEN:
        return "Write a word of at most 256 bytes, or leave it empty."
    shown = ", ".join(question.options[:8]) + (", ..." if len(question.options) > 8 else "")
    return f"Its options are: {visible(shown)}."


def read_candidates(path: Path, question: str) -> tuple[str, ...]:
    """Return the words of a file, one a line (the first cell of it), each once; a heading is left out."""
    found: dict[str, None] = {}
    for number, (_, row) in enumerate(_rows(path)):
        word = row[0].strip(BLANKS)
        if word and not (number == 0 and word == question):
            found[word_bytes(word).decode()] = None
    if not found:
        raise InvalidInput(f"'{path.name}' holds no words.")
    return tuple(found)
