"""Questions and answers as a Jupyter notebook (nbformat 4): code that asks again, free, and what it gave."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.core.answers.answer import Answer

MEDIA_TYPE = "application/x-ipynb+json"

_START = """import os
import discreet

# Make a token for yourself on the page (or: discreet token new), and keep it out of this file.
client = discreet.connect({address!r}, token=os.environ["DISCREET_TOKEN"])"""


def ipynb(
    title: str, address: str, cells: Iterable[tuple[Mapping[str, Any], Answer | None]]
) -> str:
    """Return the text of the notebook; the same request ids return the stored answers, unpaid."""
    parts = [_text(f"# {title}"), _code(_START.format(address=address))]
    for cell, answer in cells:
        parts.append(_text(cell["text"]) if cell["kind"] == "text" else _question(cell, answer))
    facts = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    numbered = [part | {"id": f"cell-{i}"} for i, part in enumerate(parts)]
    whole = {"cells": numbered, "metadata": facts, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _question(cell: Mapping[str, Any], answer: Answer | None) -> dict[str, Any]:
    asked = f"{cell['sql']!r},\n    epsilon={cell['epsilon'] or '1'!r}"
    named = f",\n    request_id={cell['answer']!r}" if cell["answer"] else ""
    payer = f",\n    analyst={cell['analyst']!r}" if cell["analyst"] else ""
    chart = "\nanswer.plot()" if cell["view"] == "chart" else ""
    return _code(f"answer = client.query(\n    {asked}{named}{payer},\n)\nanswer{chart}", answer)


def _text(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, answer: Answer | None = None) -> dict[str, Any]:
    shown = [] if answer is None else [_shown(answer)]
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": source,
        "outputs": shown,
    }


def _shown(answer: Answer) -> dict[str, Any]:
    data = {"text/plain": str(answer), "text/html": answer._repr_html_()}
    return {"output_type": "display_data", "metadata": {}, "data": data}
