"""psql: questions, its own commands, and \\copy."""

import subprocess
import tempfile
from pathlib import Path

from said import ASK, BUDGET, DIVISION, NAMES, ROWS, WRONG, check, from_binary


def psql(*commands, flags=("-A", "-t", "-F", "|")):
    words = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(
        ["psql", "-X", "-q", *flags, *words], capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr


def rows(*commands):
    lines = psql(*commands)[0].splitlines()
    return [[int(c) if c.isdigit() else c for c in line.split("|")] for line in lines]


def copied(options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        psql(rf"\copy ({ASK}) TO '{path}' {options}")
        return path.read_bytes()


def position():
    said = psql(r"\set VERBOSITY verbose", WRONG)[1]
    line, caret = said.splitlines()[1:3]
    return str(caret.index("^") - line.index("SELECT") + 1)


check("ask", lambda: rows(ASK))
check("names", lambda: psql(NAMES, flags=("-A", "-F", "|"))[0].splitlines()[0].split("|"))
check("date", lambda: rows("SELECT COUNT(*) FROM people WHERE born > '1960-01-01'")[0][0])
check("division", lambda: rows(DIVISION)[0][0])
check("columns", lambda: [row[0] for row in rows(r"\d people") if len(row) > 3])
check("tables", lambda: sorted(row[1] for row in rows(r"\dt")))
check("copy text", lambda: copied(""))
check("copy csv", lambda: copied("CSV HEADER"))
check("copy binary", lambda: from_binary(copied("(FORMAT binary)")))
check("position", position)
check("refused", lambda: psql(r"\set VERBOSITY sqlstate", ROWS)[1].split()[-1])
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
view = "CREATE TEMPORARY VIEW grown AS SELECT * FROM people WHERE age >= 0"
check("view", lambda: rows(view, ASK.replace("people", "grown")))
