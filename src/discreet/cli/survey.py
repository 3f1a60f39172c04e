"""`discreet survey new|rehearse|estimate|wave|close`: answers that are randomised on people's own devices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.base.requests.unpaid import EstimateFields
from discreet.cli.command import Json, command_group, waiting, with_options
from discreet.cli.terminal import tell
from discreet.errors import InvalidInput

app = command_group(help="Ask people whose devices randomise their own answers.")

Toml = Annotated[Path, typer.Argument(metavar="SURVEY.toml", help="What is asked.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The survey's name: its file's stem.")]
Folder = Annotated[Path, typer.Option(help="Where the folder 'surveys' lies.")]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE",
        help="Count these columns q0, q1, ... instead, such as a file that `close` wrote.",
    ),
]
EngineUrl = Annotated[
    str, typer.Option(help="Where TABLE lies: duckdb:, postgresql://... or spark://...")
]
HERE = Path()


@app.command()
def new(
    survey: Toml,
    *,
    within: Annotated[
        float,
        typer.Option(help="The error wanted, such as 0.05: says how many respondents it needs."),
    ] = 0.05,
    folder: Folder = HERE,
    json: Json = False,
) -> None:
    """Begin a survey; `discreet serve` in the same folder hands out its page.

    Example: discreet survey new smoking.toml --within 0.05
    """
    from discreet.survey.command import begin_survey

    found = begin_survey(survey, folder, within=within)
    tell(found, lambda: "\n".join(new_words(found)), json=json)


@app.command()
@with_options(EstimateFields)
def rehearse(
    survey: Toml,
    *,
    answers: Annotated[
        Path, typer.Option(metavar="ANSWERS.csv", help="One column a question, one row a person.")
    ],
    json: Json = False,
    **asked: Any,
) -> None:
    """Simulate the devices on a file of answers: what the survey would have shown.

    Example: discreet survey rehearse smoking.toml --answers answers.csv
    """
    from discreet.survey.command import rehearse_survey

    wanted = _wanted(**asked)
    with waiting("Rehearsing"):
        found = rehearse_survey(survey, answers, wanted=wanted)
    tell(found, lambda: "\n".join(result_words(found)), json=json)


@app.command()
@with_options(EstimateFields)
def estimate(
    name: Name,
    *,
    columns: Columns = None,
    engine: EngineUrl = "duckdb:",
    folder: Folder = HERE,
    json: Json = False,
    **asked: Any,
) -> None:
    """Print what the reports so far say about the respondents.

    Example: discreet survey estimate smoking --json
    """
    from discreet.survey.columns import attached
    from discreet.survey.command import estimate_survey

    wanted = _wanted(**asked)
    with waiting("Counting"), attached(columns, engine) as held:
        found = estimate_survey(name, folder, wanted=wanted, columns=held)
    tell(found, lambda: "\n".join(result_words(found)), json=json)


@app.command()
def wave(name: Name, *, folder: Folder = HERE, json: Json = False) -> None:
    """Close a survey and begin its next wave, with a page of its own.

    Example: discreet survey wave smoking
    """
    from discreet.survey.command import begin_wave

    found = begin_wave(name, folder)
    words = (
        f"'{name}' is closed. Wave {found['wave']} of at most {found['waves']} is the survey "
        f"'{found['survey']}': hand out its page."
    )
    tell(found, words, json=json)


@app.command()
def close(name: Name, *, folder: Folder = HERE, json: Json = False) -> None:
    """Take no more reports; estimates stay.

    Example: discreet survey close smoking
    """
    from discreet.survey.command import close_survey

    found = close_survey(name, folder)
    if found["columns"] is None:
        words = (
            f"The survey '{name}' is closed. The disk has no room for its file of columns: "
            "free some, then close it again."
        )
    else:
        words = f"The survey '{name}' is closed with {found['reports']:,} reports."
    tell(found, words, json=json)


def _wanted(*, candidates: list[str], **asked: Any) -> Any:
    from discreet.survey.answers import read_candidates
    from discreet.survey.results import EstimateRequest

    words = {}
    for each in candidates:
        question, separator, file = each.partition("=")
        if not separator or not file:
            raise InvalidInput("Write --candidates as QUESTION=FILE, such as emoji=emoji.csv.")
        words[question] = read_candidates(Path(file), question)
    return EstimateRequest.of(candidates=words, **asked)


_PROTECTION_WORDS = {
    "some": [],
    "little": ["Respondents read that this protects their answers little."],
    "hardly": ["Respondents read that this hardly protects their answers."],
}


def new_words(found: dict[str, Any]) -> list[str]:
    """Return a new survey for a terminal."""
    lines = [
        f"{found['title']}: epsilon {found['epsilon']:g} for each device.",
        *_wave_words(found),
        f"Each answer gets {found['question_epsilon']:.4g} of it.",
        *_PROTECTION_WORDS[found["protection"]],
        f"It takes at most {found['most_reports']:,} reports and {found['most_mb']:,} MB.",
        "",
    ]
    for name, question in found["questions"].items():
        needed, gain = question["respondents_needed"], question["poisoning_gain"]
        lines += [
            f"  {name}: {question['mechanism']}. {question['why']}",
            f"    For plus or minus {found['within']:g}: {needed:,} respondents.",
            f"    One liar weighs at most as much as {gain:.3g} of them.",
        ]
        if question["epsilon_once"] < 0.999 * found["question_epsilon"]:
            once = question["epsilon_once"]
            lines.append(f"    One report tells {once:.3g} of it.")
    return [*lines, "", f"Its reports will lie in {found['folder']}. Hand it out: discreet serve"]


def _wave_words(found: dict[str, Any]) -> list[str]:
    if found["waves"] == 1:
        return ["It is asked once: each device sends one report."]
    return [f"This is wave {found['wave']} of at most {found['waves']}; each has its share."]


def result_words(found: dict[str, Any]) -> list[str]:
    """Return estimates for a terminal."""
    kind = "simulated reports" if found.get("rehearsal") else "reports"
    lines = [f"{found['title']}: {found['reports']:,} {kind}, epsilon {found['epsilon']:g}.", ""]
    for name, question in found["questions"].items():
        lines.append(f"{name} ({question['mechanism']}, {question['answers']:,} answers)")
        if "mean" in question:
            lines.append(f"  mean  {_numbers(question['mean'], '.4g')}")
        else:
            shown = list(question.get("estimates", {}).items())
            width = max((len(label) for label, _ in shown), default=0)
            lines += [f"  {label:<{width}}  {_numbers(each, '.1%')}" for label, each in shown]
        lines += _liar_words(question)
    lines += [f"Warning: {warning}" for warning in found["warnings"]]
    lines += _cross_words(found.get("cross"))
    mixed = found["shuffled"]
    lines.append(
        f"Mixed by someone trusted, the reports would be ({mixed['epsilon']:.3g}, {mixed['delta']:g})-private."
    )
    return lines


def _liar_words(question: dict[str, Any]) -> list[str]:
    if not question["answers"]:
        return []
    moved = f"{question['fake']:.3g}" if "mean" in question else f"{question['fake']:.2%}"
    return [f"  One liar moves it by at most {moved}."]


def _numbers(each: dict[str, Any], form: str) -> str:
    if each["value"] is None:
        return "nothing yet"
    return f"{each['value']:{form}}  ({each['low']:{form}} to {each['high']:{form}})"


def _cross_words(cross: dict[str, Any] | None) -> list[str]:
    if cross is None:
        return []
    lines = [f"{cross['questions'][0]} and {cross['questions'][1]}, shares of all:"]
    for row, columns in cross["estimates"].items():
        lines += [f"  {row}, {column}  {_numbers(each, '.1%')}" for column, each in columns.items()]
    return lines
