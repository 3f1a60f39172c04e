"""A test on rows that the owner declared public: exact, and free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InvalidInput
from discreet.learn.any_classifier import AnyClassifier
from discreet.learn.scored.read_file import codes_of_table, read_table
from discreet.learn.scored.score import public_score


def publicly_tested(model: AnyClassifier, path: Path) -> AnyClassifier:
    """Return the model with what a public test file says about it written into its facts."""
    codes = codes_of_table(read_table(path), model.encoding.coded)
    known = codes[:, -1] >= 0
    if not known.any():
        raise InvalidInput(
            f"No row of '{path.name}' has a declared value of '{model.target.name}'.",
            hint="The test file must name the classes as discreet.toml does.",
        )
    found = public_score(model, codes[known], codes[known, -1].astype(np.int64))
    accuracy: dict[str, Any] = found.pop("accuracy")
    facts = {**model.facts, **found}
    facts["accuracy"] = accuracy | {"on": f"{path.name}, declared public"}
    return replace(model, facts=facts)
