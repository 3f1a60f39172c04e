"""What an owner may send to the lab: files as files and plain words; nothing that names a place of the server."""

import json

import pytest
from starlette.datastructures import FormData

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Attack, Knob, all_attacks, file_knob, words_knob
from discreet.server.features.lab import pages

TOY = Attack(
    "toy",
    "A toy",
    "Reads.",
    (
        Knob("k", 5, "how many", 1, 9),
        Knob("kind", "a", "which", choices=("a", "b")),
        file_knob("rows", "a file"),
        words_knob("columns", "", "its columns"),
        Knob("dictionary", "", "a list of words on this machine"),
    ),
)


def names(knobs):
    return {knob.name for knob in knobs}


def test_a_text_is_a_place_of_the_machine_unless_it_says_otherwise():
    assert names(pages.files_of(TOY)) == {"rows"}
    assert names(pages.words_of(TOY)) == {"columns"}


@pytest.mark.parametrize("name", ["rows", "dictionary"])
def test_no_place_is_taken_from_a_form(name):
    with pytest.raises(InvalidInput, match="sent, not named"):
        pages._words(FormData({"settings": json.dumps({name: "/etc/passwd"})}), TOY)


def test_numbers_choices_and_words_are_taken_from_a_form():
    given = {"k": 7, "kind": "b", "columns": "zip"}
    form = FormData({"settings": json.dumps({**given, "empty": ""})})
    assert pages._words(form, TOY) == given


def test_folders_packages_and_servers_stay_with_the_command():
    open_to_owners = {
        knob.name
        for attack in all_attacks()
        for knob in (*pages.files_of(attack), *pages.words_of(attack))
    }
    assert not open_to_owners & {"package", "config", "hierarchies", "server", "ask", "other"}
