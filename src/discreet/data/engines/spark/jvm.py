"""The Java process of Spark: started silently, shared by the process, killed when it hangs."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import threading
import time
import warnings
from typing import Any

from discreet.base.packages import needs
from discreet.data.engines.base import EngineLimits
from discreet.errors import CatalogError

with warnings.catch_warnings(), needs("pyspark", extra="spark"):
    # It warns about the version of pandas, which nothing here uses.
    warnings.simplefilter("ignore")
    import pyspark.testing.utils  # noqa: F401 imported by pyspark anyway, but later and loudly
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

_LOCK = threading.RLock()
_DEFAULT_MEMORY_MB = 2048
_SETTLE = 0.3
"""Seconds that cancelled tasks have to end before the Java process is given up."""

_SESSION = {
    # Off: a cast or a division that fails is NULL. Our SQL is total anyway; this is the net.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.adaptive.enabled": "true",
    # Without it a file with times in nanoseconds cannot be opened at all.
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Without it no file is read in windows-1252.
    "spark.sql.legacy.javaCharsets": "true",
}


class Driver:
    """One live Java process with its Spark context."""

    def __init__(self, master: str, limits: EngineLimits) -> None:
        conf = _configuration(master, limits)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for name in ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            # These print what a query said, cells included, to the terminal.
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        logging.getLogger().addFilter(_not_from_py4j)
        gateway: Any = None
        try:
            gateway = launch_gateway(conf, quiet)
            self._process = gateway.proc
            self.context = SparkContext(gateway=gateway, conf=conf)
            self.session = SparkSession(self.context)
        except Exception:  # noqa: BLE001 Spark's text names hosts and files
            if gateway is not None and gateway.proc is not None:
                _end(gateway.proc)
            _forget()
            raise CatalogError(
                "Spark could not be started.",
                hint="It needs Java 17 or newer on the path, and a master that can be reached.",
            ) from None

    @property
    def alive(self) -> bool:
        """Return whether the Java process is there."""
        return self._process.poll() is None

    def new_session(self) -> Any:
        """Return a session with views of its own and our settings."""
        session = self.session.newSession()
        for name, value in _SESSION.items():
            session.conf.set(name, value)
        return session

    def recover(self, *, alone: bool) -> None:
        """Make sure, after a failure, that the next query finds a Java process without a burden.

        A task may go on after its job was cancelled, and a process out of memory may be about to
        go: one that does not answer, or still works though nobody (`alone`) asked, is killed.
        """
        deadline = time.monotonic() + _SETTLE
        tasks = self._running_tasks(_SETTLE)
        while tasks and time.monotonic() < deadline:
            time.sleep(0.05)
            tasks = self._running_tasks(_SETTLE)
        if tasks is None or (tasks and alone):
            self.kill()

    def _running_tasks(self, seconds: float) -> int | None:
        """Return how many tasks run now, or None when Java does not say."""
        found: list[int] = []

        def ask() -> None:
            with contextlib.suppress(Exception):
                status = self.context._jsc.sc().statusTracker()  # noqa: SLF001 not in Python's API
                found.append(sum(info.numRunningTasks() for info in status.getExecutorInfos()))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(seconds)
        return found[0] if found else None

    def kill(self) -> None:
        """End the Java process now; every call that waits for it fails."""
        _end(self._process)


def _not_from_py4j(record: logging.LogRecord) -> bool:
    # It logs lost connections through the root logger, with whatever was said on them.
    return "py4j" not in record.pathname


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _configuration(master: str, limits: EngineLimits) -> Any:
    local = master.startswith("local")
    if local and limits.threads is not None:
        master = f"local[{limits.threads}]"
    memory = limits.memory_mb or _DEFAULT_MEMORY_MB
    settings = {
        "spark.master": master,
        "spark.app.name": "discreet",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.memory": f"{memory}m",
        "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
        "spark.driver.maxResultSize": f"{max(256, memory // 4)}m",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "4" if local else "200",
        "spark.eventLog.enabled": "false",
        **_SESSION,
    }
    if local:
        settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    return conf


_current: dict[str, Driver] = {}


def driver(master: str, limits: EngineLimits) -> Driver:
    """Return the Spark of this process, started if there is none or the last one died.

    A process has one Spark; the first engine's master and limits are the ones that count.
    """
    with _LOCK:
        found = _current.get("driver")
        if found is None or not found.alive:
            if found is not None:
                found.kill()  # it died by itself: its pipe is still open
            _forget()
            found = _current["driver"] = Driver(master, limits)
        return found


def _forget() -> None:
    """Make pyspark believe that there never was a Java process, so that it can start another."""
    context: Any = SparkContext._active_spark_context  # noqa: SLF001 pyspark has no other way
    if context is not None:
        context._jsc = None  # noqa: SLF001 it is dead: stop() would only warn
        with contextlib.suppress(Exception):
            context.stop()
    gateway: Any = SparkContext._gateway  # noqa: SLF001 likewise
    if gateway is not None:
        with contextlib.suppress(Exception):
            gateway.shutdown()
    for owner, names in (
        (SparkContext, ("_gateway", "_jvm", "_active_spark_context")),
        (SparkSession, ("_instantiatedSession", "_activeSession")),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, None)
