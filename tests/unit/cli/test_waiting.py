"""A sign of life only where somebody watches."""

from discreet.cli.command import waiting


def test_nothing_is_shown_where_nobody_watches(capsys):
    with waiting("Asking"):
        pass
    assert capsys.readouterr().err == ""
