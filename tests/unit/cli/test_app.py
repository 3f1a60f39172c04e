"""The list of commands, exit statuses, and a quick --help."""

import resource
import subprocess
import sys

import pytest

from discreet.cli.app import COMMANDS, command_of, help_text, run
from patience import slowness

START = [sys.executable, "-c", "from discreet.cli import main; main()"]


def test_statuses_of_usage(capsys):
    assert run(["--help"]) == 0
    assert run(["--version"]) == 0
    assert run([]) == 2
    assert run(["nonsense"]) == 2
    assert "there is no command 'nonsense'" in capsys.readouterr().err
    assert run(["query", "--no-such-option"]) == 2


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(name, capsys):
    assert name in help_text()
    assert run([name, "--help"]) == 0
    command = command_of(name)
    pages = [command, *getattr(command, "commands", {}).values()]
    helps = [page.help for page in pages if page.help]
    assert any("Example" in text for text in helps)


def test_our_own_mistakes_show_no_values(capsys, monkeypatch):
    import discreet.curator

    def broken(_config):
        raise RuntimeError("SECRET-77")

    monkeypatch.setattr(discreet.curator, "open", broken)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    assert run(["query", "SELECT 1", "--epsilon", "1"]) == 1
    said = capsys.readouterr()
    assert "SECRET" not in said.out + said.err
    assert "RuntimeError" in said.err


def cpu_seconds(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*START, *arguments], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Usage" in done.stdout
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_is_quick():
    # The best of three: what else the machine does must not count. The goal is 0.3.
    assert min(cpu_seconds(["--help"]) for _ in range(3)) < 0.6 * slowness()


def test_help_of_a_command_imports_nothing_heavy():
    code = (
        "import sys; from discreet.cli.app import run; run(['query', '--help']); "
        "heavy = {'numpy', 'pyarrow', 'duckdb', 'sqlglot', 'pydantic', 'pandas'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_init_imports_no_engine_for_itself(tmp_path):
    """Its children have one."""
    (tmp_path / "people.csv").write_text("age,town\n" + "30,Ayr\n41,Bree\n" * 20)
    code = (
        "import sys; from discreet.cli import main\n"
        "sys.argv = ['discreet', 'init', 'people.csv']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "sys.exit('imported DuckDB' if 'duckdb' in sys.modules else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "age integer, town category" in done.stdout
