"""Options and shared words of all tests."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sittings import FULL, examples

# A slower machine is no failure: an example may take as long as it takes.
settings.register_profile(
    "discreet",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("discreet")

# Tests start hundreds of processes: each would compile every module anew.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) is not None:
    kept = Path(tempfile.gettempdir()) / f"discreet-bytecode-{os.getuid()}"
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(kept))

# Several workers share few cores: threads that wait for each other's part of a product only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What XLA compiles for a test runs a few times: its optimizations take longer than they save.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Java compiles what tests run a few times at length for speed that comes too late: half of Spark's time.
# So does Spark, which writes Java for every question: the full counts run with the settings of users, and so do
# the tests that compare whole tables, cells and expressions (`compiled` in tests/engines.py).
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn300m -XX:MetaspaceSize=256m"
_INTERPRETED = "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
os.environ.setdefault("SPARK_SUBMIT_OPTS", _JAVA if FULL else f"{_JAVA} {_INTERPRETED}")


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite tests/golden/*.sql; read the difference like code",
    )
    parser.addoption(
        "--workers",
        type=int,
        default=0,
        help="how many processes share the tests; without it, this one runs them all",
    )


def pytest_configure(config):
    if count := config.option.workers:
        from workers import Workers

        config.pluginmanager.register(Workers(count), "workers")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep 17,000 tests out of the collector's way: they are not garbage, and children share them."""
    gc.disable()
    found = yield
    gc.freeze()
    # What tests leave in circles is small, and looking for it after every 700 things takes a fifteenth of all time.
    gc.set_threshold(50_000, 20, 50)
    gc.enable()
    return found


def pytest_unconfigure():
    gc.unfreeze()  # what ends with the process is let go of in order


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Once JAX is loaded a process must not fork, and many tests here do: those that load it run apart."""
    had = sys.modules.get("jax") is not None
    result = yield
    loaded = sys.modules.get("jax") is not None and not had
    assert not loaded or item.get_closest_marker("jax"), "mark this test: it loads JAX"
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("spark") and item.get_closest_marker("slow_on_spark"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def new_process():
    """Let a test begin as a process does, which has seen no ledger: many copy one that was made for all."""
    module = sys.modules.get("discreet.privacy.ledger.head")
    if module is not None:
        vars(module)["known_heads"].__init__()
