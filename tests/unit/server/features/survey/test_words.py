"""All words of the respondent's page stand in one file a language; languages say the same."""

import re
from pathlib import Path

import pytest

import discreet.server
from discreet.server.features.survey.pages import LANGUAGES, language_of, words_in

STATIC = Path(discreet.server.__file__).parent / "static" / "survey"
SCRIPTS = ("respond.js", "consent.js", "questions.js", "leaves.js", "sending.js")
PAGE = STATIC.parents[1] / "pages" / "survey_respond.html"


def places(words):
    """Return the names of all sentences and the gaps that each has."""
    found = {}
    for name, said in words.items():
        if isinstance(said, dict):
            found |= {f"{name}.{inner}": gaps for inner, gaps in places(said).items()}
        elif isinstance(said, list):
            found[name] = [sorted(re.findall(r"\{(\w+)\}", each)) for each in said]
        else:
            found[name] = sorted(re.findall(r"\{(\w+)\}", said))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_sentences_with_the_same_gaps(language):
    assert words_in(language)["language"] == language
    assert places(words_in(language)) == places(words_in(LANGUAGES[0]))


def test_the_scripts_say_what_the_file_has_and_nothing_else():
    text = "".join((STATIC / script).read_text(encoding="utf-8") for script in SCRIPTS)
    used = set(re.findall(r"words\.(\w+)", text))
    assert used | {"noscript", "language", "name"} == set(words_in("en"))
    # A sentence in a script would be a literal with a blank between two small words.
    literals = re.findall(r'"([^"\n]*)"', re.sub(r"//.*", "", text))
    said = [each for each in literals if re.search(r"[a-z] [a-z]", each) and "<" not in each]
    assert set(said) == {
        "discreet survey",
        "option quiet",
        "plain forget",
        "quiet small",
    }  # names, no sentences


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-AT, en;q=0.5", "de"),
        ("it, fr;q=0.9, de;q=0.4", "fr"),
        ("xx", "en"),
        ("EN", "en"),
    ],
)
def test_browsers_get_the_first_language_they_accept(accepted, language):
    assert language_of(accepted) == language


def imported(script, seen):
    """Return a script and all that it imports, as the page asks for them."""
    if script not in seen:
        seen.add(script)
        text = script.read_text(encoding="utf-8")
        for name in re.findall(r"""from "(\.[^"]+)";""", text):
            imported((script.parent / name).resolve(), seen)
    return seen


def test_the_copy_for_a_reload_offline_holds_every_file_of_the_page():
    """A file that is missing would leave a page offline that cannot even say what is wrong."""
    static = STATIC.resolve().parent
    linked = re.findall(r'(?:src|href)="/static/([^"]+)"', PAGE.read_text(encoding="utf-8"))
    needed = {static / each for each in linked}
    for script in [each for each in needed if each.suffix == ".js"]:
        needed |= imported(script, set())
    text = (STATIC / "worker.js").read_text(encoding="utf-8")
    kept = re.findall(r'"/static/([^"]+)"', text)
    assert sorted(kept) == sorted(each.relative_to(static).as_posix() for each in needed)
