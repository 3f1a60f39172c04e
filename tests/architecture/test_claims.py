"""Who may say what became of a charge or an answer: only what the ledger, or a refusal before it, knows.

A page cannot know it, so no script and no template says it: it shows what the server's answer says.
"""

import ast
import re
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src" / "discreet"
CLAIM = re.compile(
    r"paid for (is|was|will be) kept|(answer|answers|model|work|question|request|it|they)\b[^.;:]{0,20} "
    r"(is|was|are|were) (kept|lost)|charges? (\w+ ){0,4}stands?|stays? (charged|paid|spent)"
    r"|nothing (\w+ ){0,2}(was|is|will be) (kept|charged|spent|paid)|(was|is|were) not charged"
    r"|(paid|charged) (again|twice)|comes? back under",
    re.IGNORECASE,
)
WORDS = re.compile(r"kept|lost|stands?|stays?|charged|spent|paid|comes? back", re.IGNORECASE)
"""One of them is in every claim."""
ENTERED = {
    "base/outcome_words.py": "the sentence for each standing that the ledger may say",
    "errors.py": "AnswerLost, raised where the ledger has no answer of a begun charge",
    "privacy/ledger/": "the ledger itself, in the transaction that decides it",
    "work/publish/run.py": "the outcome in the ledger, or entered by this very call",
    "ask/release/outcome.py": "the one that enters the outcome",
    "server/jobs/queue.py": "told once the charge is durable",
    "work/synth/run.py": "the model has just been read from the ledger",
}
"""Who may say that a charge stands, or that an answer is kept or lost, and whence it is known."""
REFUSED = (
    "data/catalog/overlap.py",
    "cli/publish.py",
    "base/answer.py",
    "base/display.py",
    "work/learn/",
    "work/publish/",
    "ask/release/planning_limits.py",
    "ask/release/post_processing.py",
    "measure/budget.py",
    "tasks/learn.py",
    "tasks/model_test.py",
)
"""Who refuses before it charges, or rehearses, and may say that nothing was charged."""
STANDING = {
    "cli/ledger.py": "entries that a restore found missing",
    "cli/learn.py": "a help text about files",
    "cli/query.py": "a rehearsal or a price",
    "server/features/survey/words/en.json": "of a device, whose storages a test reads",
    "server/pgwire/results.py": "ROLLBACK undoes no charge",
    "server/pages/ask.html": "the price comes before the button",
    "server/pages/data.html": "deleting a table undoes no charge",
    "server/pages/publish_release.html": "the state of a release in the ledger",
    "server/static/answers.js": "an empty list, read from the ledger",
    "server/static/ask.js": "an answer that is here, and says that it was free",
    "server/static/course/teacher.js": "a price beforehand",
    "server/static/limits.js": "taking a share away undoes no charge",
    "server/static/price.js": "a price beforehand",
    "server/static/synth_copy.js": "deleting a copy undoes no charge",
    "server/static/synthesize.js": "a price beforehand",
    "server/static/rehearse.js": "a rehearsal",
    "server/static/work.js": "an id is charged once, whatever became of it",
}
"""Sentences that are true whatever became of a request."""
OUTCOME = re.compile(r"\b(kept|lost|stands?|comes? back)\b", re.IGNORECASE)


def said_in(path):
    """Return the sentences of a module that are shown: its texts without docstrings, joined as written."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quiet = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
            )
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and id(node) not in quiet | inside:
            yield node.value


def shown_in(path):
    """Return the sentences of any file that people may read."""
    if path.suffix == ".py":
        # A claim may be put together of parts, but then its words stand in the file by themselves.
        return list(said_in(path)) if WORDS.search(path.read_text(encoding="utf-8")) else []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if not line.lstrip().startswith("//")]


def may_say(name, text):
    """Return whether a file may make this claim."""
    if name in STANDING or any(name.startswith(each) for each in ENTERED):
        return name not in STANDING or not re.search(r"paid for (is|was) kept|was lost", text)
    return name.startswith(REFUSED) and not OUTCOME.search(CLAIM.search(text)[0])


def unfounded(root):
    """Return every claim under a folder by who may not make it."""
    files = [path for kind in ("py", "js", "html", "json") for path in root.rglob(f"*.{kind}")]
    return [
        (path.relative_to(root).as_posix(), text)
        for path in sorted(files)
        for text in shown_in(path)
        if CLAIM.search(text) and not may_say(path.relative_to(root).as_posix(), text)
    ]


def test_nothing_is_said_to_be_kept_lost_or_free_before_it_is_known():
    assert unfounded(SRC) == []


TWINS = {
    "server/static/work.js": 'const GONE = "This page asks again; what was paid for is kept.";',
    "server/static/new.js": 'const LEFT = "What was paid for is kept, and comes back under History.";',
    "server/static/upload.js": 'detail: "The file did not arrive, and nothing of it is kept."',
    "server/pages/new.html": "<p>Your answer was lost.</p>",
    "server/jobs/long.py": 'raise ServerFailed(f"{cause} Nothing was charged.")',
    "tasks/new.py": 'say("The charge stands, and the answer is kept.")',
    "work/learn/new.py": 'say("The charge stands.")',
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_says_more_than_it_knows_is_caught(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(TWINS[name], encoding="utf-8")
    assert [found for found, _ in unfounded(tmp_path)] == [name]


def test_every_exception_is_needed():
    """A place that says nothing of the kind any more may not begin again unseen."""
    saying = {
        path.relative_to(SRC).as_posix()
        for kind in ("py", "js", "html", "json")
        for path in SRC.rglob(f"*.{kind}")
        if any(CLAIM.search(text) for text in shown_in(path))
    }
    allowed = [*ENTERED, *REFUSED, *STANDING]
    assert [each for each in allowed if not any(name.startswith(each) for name in saying)] == []
