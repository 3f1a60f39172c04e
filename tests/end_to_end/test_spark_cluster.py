"""Spark on a cluster: a master and two workers as processes of their own, from the installed package."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.curator import open as open_curator
from discreet.errors import EngineFailed
from patience import LONG, eventually
from ports import free_port

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ("test_engine.py", "test_same_tables.py", "test_canonical.py", "test_same_cells.py")
TOML = """
[engine]
url = "{url}"
[datasets.town]
epsilon = 10
[datasets.town.tables.people]
source = "people"
unit = "row"
[datasets.town.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 99 }}
score = {{ type = "integer", lower = 0, upper = 1000 }}
"""

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(3600)]


class Cluster:
    """A standalone cluster on this machine; its workers can be killed, with all that they started."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.folder, self.port, self.page = folder, free_port(), free_port()
        self.processes: list[subprocess.Popen] = []
        self.workers: list[subprocess.Popen] = []

    def start(self) -> None:
        deploy = "org.apache.spark.deploy"
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(self.page)]
        self._start(f"{deploy}.master.Master", *place)
        eventually(self._listens, "the master listens")
        self.workers = [
            self._start(
                f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                "--webui-port", str(free_port()), "--work-dir", str(self.folder / f"worker{n}"), self.url,
            )
            for n in range(2)
        ]  # fmt: skip
        eventually(lambda: self.alive() == 2, "two workers have come")

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, *words: str) -> subprocess.Popen:
        known = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        process = subprocess.Popen(
            [self.program, *words],
            env=known, cwd=self.folder, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def _listens(self) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def alive(self) -> int:
        """Return how many workers the master says are alive."""
        address = f"http://127.0.0.1:{self.page}/json/"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=LONG) as page:
            return json.load(page)["aliveworkers"]
        return 0

    def busy(self) -> set[int]:
        """Return which workers have an executor at work."""
        return {n for n in range(2) if any((self.folder / f"worker{n}").glob("app-*/*"))}

    def kill(self, worker: int) -> None:
        os.killpg(self.workers[worker].pid, signal.SIGKILL)

    def end(self) -> None:
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(LONG)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        found.start()
        yield found
    finally:
        found.end()


def test_the_contract_holds_on_a_cluster(cluster, tmp_path, record_property):
    """The same tests as on one machine, in a process of their own with the cluster's address."""
    files = [f"tests/contract/{name}" for name in CONTRACT]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "spark", f"--basetemp={tmp_path / 't'}", *files],
        cwd=ROOT, env=os.environ | {"DISCREET_SPARK": cluster.url}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed > 10
    assert cluster.busy() == {0, 1}, "both workers took part"
    record_property("contract tests on the cluster", passed)


def write_rows(folder, files=16, rows=2_000_000):
    """Rows in several files, so that both workers have work for a while."""
    (folder / "people").mkdir()
    dice = np.random.default_rng(5)
    for number in range(files):
        table = pa.table(
            {"age": dice.integers(0, 100, rows), "score": dice.integers(0, 1000, rows)}
        )
        pq.write_table(table, folder / "people" / f"part{number}.parquet")
    return files * rows


def test_a_worker_killed_in_mid_query_costs_once_and_ends_for_good(
    cluster, tmp_path, record_property
):
    people = write_rows(tmp_path)
    (tmp_path / "discreet.toml").write_text(TOML.format(url=cluster.url))
    sql = "SELECT age, COUNT(*) AS n, SUM(score) AS s, MEDIAN(score) AS m FROM people GROUP BY age"
    ended = []
    with open_curator(tmp_path) as curator:
        curator.query("SELECT COUNT(*) AS n FROM people", epsilon="1")  # executors are there

        def ask():
            try:
                ended.append(curator.query(sql, epsilon="1", request_id="long").rows)
            except EngineFailed as error:
                ended.append(str(error))

        asking = threading.Thread(target=ask)
        asking.start()
        eventually(
            lambda: (
                ended
                or any(
                    e["request_id"] == "long" and e["outcome"] == "running"
                    for e in curator.history(last=3)
                    if e["kind"] == "charge"
                )
            ),
            "it is charged and reads",
        )
        in_time = not ended
        cluster.kill(0)
        asking.join(4 * LONG)
        assert ended, "it ends"
        record_property("a worker died in mid-query", in_time)
        record_property(
            "and the question ended in",
            "an answer" if isinstance(ended[0], tuple) else "one sentence",
        )
        if isinstance(ended[0], tuple):
            assert abs(sum(row[1] for row in ended[0]) - people) < 10_000
        before = curator.budget_report()["datasets"]["town"]["charges"]
        try:
            again = curator.query(sql, epsilon="1", request_id="long").rows
        except EngineFailed as error:
            again = str(error)
        assert again == ended[0], "the same id, the same ending"
        assert curator.budget_report()["datasets"]["town"]["charges"] == before == 2
        eventually(lambda: cluster.alive() <= 1, "the master has noticed")
        answer = curator.query("SELECT COUNT(*) AS n FROM people WHERE age < 50", epsilon="1")
        assert abs(answer.rows[0][0] - people / 2) < people / 100
