"""What documents imported before the folders moved is the same module under either name."""

import subprocess
import sys

import pytest

from discreet.base.former_names import FORMER, present_name


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_is_the_present_module(former):
    script = (
        "import importlib, sys\n"
        f"former = importlib.import_module('discreet.{former}')\n"
        f"present = importlib.import_module('{present_name(f'discreet.{former}')}')\n"
        "assert former is present and present.__spec__.name == present.__name__\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_module_below_a_former_name_is_not_loaded_twice():
    script = (
        "from discreet.noise.laws import registry as former\n"
        "from discreet.privacy.noise.laws import registry\n"
        "assert former is registry\n"
        "import discreet.noise as noise\n"
        "assert noise.__name__ == 'discreet.privacy.noise'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_names_that_never_were_are_still_not_there():
    with pytest.raises(ModuleNotFoundError, match=r"discreet\.noises"):
        import discreet.noises
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        import discreet.noise.nothing_of_this_name  # noqa: F401


def test_the_menu_is_called_whatever_was_imported_before():
    script = (
        "import discreet.attack, discreet.learn, discreet.publish, discreet.audit, discreet.course\n"
        "import discreet\n"
        "for name in ('attack', 'learn', 'publish', 'audit', 'course'):\n"
        "    assert callable(getattr(discreet, name)), name\n"
        "assert discreet.attack('differencing', seed=1).to_json()['attack'] == 'differencing'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
