"""All sums of products of some variables as one question to a curator, and its answer as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from discreet.attack.inversion.patients import Floats
from discreet.core.answer import Answer
from discreet.learn.linear.variables import Variable


def sums_question(table: str, variables: Sequence[Variable]) -> str:
    """Return the question: the number of rows, every sum and every sum of products.

    The last variable is the target; rows without it are left out.
    """
    parts = ["COUNT(*) AS n", *(f"SUM({_sql(v)}) AS s{i}" for i, v in enumerate(variables))]
    parts += [
        f"SUM(({_sql(variables[i])}) * ({_sql(variables[j])})) AS p{i}_{j}"
        for i, j in combinations_with_replacement(range(len(variables)), 2)
        if i != j or variables[i].value is None  # the square of -1 or 1 is 1
    ]
    return f'SELECT {", ".join(parts)} FROM {table} WHERE "{variables[-1].column}" IS NOT NULL'


def answered_sums(answer: Answer, variables: Sequence[Variable]) -> tuple[Floats, float]:
    """Return the sums of products of (1, v1, v2, ...) scaled to -1 to 1, and the largest noise of a sum."""
    values, errors = (
        {name: float(cell or 0) for name, cell in zip(answer.columns, row, strict=True)}
        for row in (answer.rows[0], answer.error95[0])
    )
    reach = [_reach(variable) for variable in variables]
    size = len(variables)
    found = np.zeros((size + 1, size + 1))
    found[0, 0] = values["n"]
    for i in range(size):
        found[0, i + 1] = found[i + 1, 0] = values[f"s{i}"] / reach[i]
        for j in range(i, size):
            value = values.get(f"p{i}_{j}", values["n"] * reach[i] * reach[j])
            found[i + 1, j + 1] = found[j + 1, i + 1] = value / (reach[i] * reach[j])
    return found, max(errors[f"s{i}"] / reach[i] for i in range(size)) / 1.96


def _sql(variable: Variable) -> str:
    """Return SQL for twice the distance from the middle; zero where the value is missing."""
    name = '"' + variable.column.replace('"', '""') + '"'
    if variable.value is not None:
        said = str(variable.value).replace("'", "''")
        quoted = "TRUE" if variable.value is True else f"'{said}'"
        return f"CASE WHEN {name} = {quoted} THEN 1 ELSE -1 END"
    both = variable.lower + variable.upper
    middle = f"({both.numerator})" if both.denominator == 1 else f"({float(both):.12f})"
    return f"CASE WHEN {name} IS NULL THEN 0 ELSE 2 * {name} - {middle} END"


def _reach(variable: Variable) -> float:
    return 1.0 if variable.value is not None else float(variable.upper - variable.lower) or 1.0
