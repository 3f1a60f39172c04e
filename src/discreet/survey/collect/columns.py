"""Reports as columns that any engine can count: a Parquet file, and tallies by one GROUP BY a question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.base import Engine, open_exact
from discreet.survey.estimate.result import QuestionTally
from discreet.survey.randomizers.base import Randomizer, Reports
from discreet.survey.randomizers.dyadic import smallest_type
from discreet.survey.spec.plan import SurveyPlan


def write_columns(path: Path, plan: SurveyPlan, rows: Sequence[Sequence[Any]]) -> None:
    """Write reports, one column q0, q1, ... a question, in the narrowest types; no ids."""
    columns = {
        f"q{index}": pa.array([row[index] for row in rows], type=_type(choice.randomizer))
        for index, choice in enumerate(plan.choices)
    }
    pq.write_table(pa.table(columns), path)


def _type(randomizer: Randomizer) -> pa.DataType:
    if randomizer.shape.length:
        return pa.binary(randomizer.shape.length)
    return pa.from_numpy_dtype(smallest_type(randomizer.shape.cells))


def count_columns(engine: Engine, table: str, plan: SurveyPlan) -> list[QuestionTally]:
    """Return the tally of every question from columns q0, q1, ... of an engine's table.

    Where reports are numbers the engine counts, so that a billion reports stay where they are; strings
    of bits are fetched and added up here.
    """
    relation = engine.relation(table)
    return [
        _counted(engine, relation, f"q{index}", choice.randomizer)
        for index, choice in enumerate(plan.choices)
    ]


def _counted(engine: Engine, relation: str, column: str, randomizer: Randomizer) -> QuestionTally:
    if randomizer.shape.length:
        sql = f"SELECT {column} FROM {relation} WHERE {column} IS NOT NULL"
        found = open_exact(engine.run(sql))[column].to_pylist()
        told = np.frombuffer(b"".join(found), dtype=np.uint8)
        rows: Reports = told.reshape(len(found), randomizer.shape.length)
        return QuestionTally(len(found), randomizer.tally(rows))
    sql = f"SELECT {column} AS told, COUNT(*) AS times FROM {relation}"
    counts = open_exact(engine.run(f"{sql} WHERE {column} IS NOT NULL GROUP BY {column}"))
    tally = np.zeros(randomizer.shape.cells, dtype=np.int64)
    tally[counts["told"].to_numpy().astype(np.int64)] = counts["times"].to_numpy()
    return QuestionTally(int(tally.sum()), tally)
