"""Pages that explain options and bodies name all of them, and no others: the schema is the request's."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT

from discreet.cli.app import command_of
from discreet.server.features.anonymize.pages import AnonymizeBody
from discreet.server.features.query.pages import QuestionBody, RehearsalBody
from discreet.server.features.synth.pages import SynthBody

TABLES = [
    ("synth.md", ("synth",), "| option | meaning |"),
    ("anonymize.md", ("anonymize",), "| option | what it says |"),
    ("learn.md", ("learn", "classify"), "| option | meaning |"),
]
BODIES = [
    ("POST /query", QuestionBody, {"group_size"}),  # which is for explaining
    ("POST /rehearse", RehearsalBody, set()),
    ("POST /synth", SynthBody, set()),
    ("POST /anonymize", AnonymizeBody, set()),
]


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def options_of(name):
    command = command_of(name[0])
    for word in name[1:]:
        command = command.commands[word]
    return {option.opts[0] for option in command.params if option.opts[0].startswith("--")}


def options_in(text, heading):
    """Return the options in the first column of the table behind a heading line."""
    rows = text.split(heading, 1)[1].split("\n\n", 1)[0]
    cells = [line.split(" | ")[0] for line in rows.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`(--[a-z-]+)", " ".join(cells)))


@pytest.mark.parametrize(("name", "command", "heading"), TABLES)
def test_the_page_explains_every_option(name, command, heading):
    text = page(name)
    assert options_in(text, heading) == options_of(command) - {"--help"}
    forgotten = re.sub(r"\n\| `--as[^\n]*|\n\| `--weights[^\n]*", "", text)
    assert options_in(forgotten, heading) != options_in(text, heading)


@pytest.mark.parametrize(("route", "body", "elsewhere"), BODIES)
def test_the_page_names_every_field_of_a_body(route, body, elsewhere):
    (line,) = [line for line in page("server.md").splitlines() if line.startswith(f"| `{route}` |")]
    named = set(re.findall(r'"(\w+)"', re.search(r"`\{(.*?)\}`", line)[1]))
    assert named == set(body.model_fields) - elsewhere
