import pytest

from discreet.lab.attacks.release_risk.cells import covers, looks_coarse


@pytest.mark.parametrize(
    ("label", "value", "covered"),
    [
        ("*", "anything", True),
        ("*", None, True),
        (None, None, True),
        (None, "37", False),
        ("35-39", None, False),
        ("35-39", "39", True),
        ("35-39", "40", False),
        ("-10--5", "-7", True),
        ("[30, 37)", "37", False),
        ("[30, 37]", "37", True),
        ("(30, 37]", "30", False),
        ("0213*", "02139", True),
        ("0213*", "02149", False),
        ("{Nurse, Teacher}", "Teacher", True),
        ("{Nurse, Teacher}", "Teach", False),
        ("1990s", "1994-05-01", True),
        ("1990s", "2004-05-01", False),
        ("1994", "1994-05-01", True),
        ("1994-05", "1994-05-01", True),
        ("1994-0", "1994-05-01", False),
        ("1994-01-01 to 1994-06-30", "1994-05-01", True),
        ("1994-06-01 to 1994-06-30", "1994-05-01", False),
        ("Nurse", "Teacher", False),
        ("Nurse or Teacher", "Teacher", True),
        ("Nurse or Teacher", "Cook", False),
        ("20-24 or missing", None, True),
        ("20-24 or missing", "22", True),
        ("20-24", None, False),
    ],
)
def test_what_a_cell_may_stand_for(label, value, covered):
    assert covers(label, value) is covered


@pytest.mark.parametrize("label", ["35-39", "*", "0213*", "A or B", "{A, B}", "1990s", "1994"])
def test_coarse_cells_look_coarse(label):
    assert looks_coarse(label)


@pytest.mark.parametrize("label", [None, "Nurse", "1994-05-01", "37", "P4"])
def test_plain_cells_do_not(label):
    assert not looks_coarse(label)
