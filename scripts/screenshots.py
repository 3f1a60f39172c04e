"""Make the pictures of the documents: start a demo, walk its pages with Chromium, write docs/images/*.png.

`make screenshots`, or `python scripts/screenshots.py [--out FOLDER] [--phone] [--dark] [NAME ...]`. Everything is
made up: the town, the questions and the survey. A picture above LARGEST bytes is an error, so that a clone stays small.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
PEOPLE = "5000"
DESKTOP, PHONE = {"width": 1120, "height": 760}, {"width": 390, "height": 760}
KEEP_PLACE = {"class", "publish"}
"""Pictures of a part further down the page."""
SURVEY = """title = "Smoking at our school"
epsilon = 2.0
respondents = 90
[questions.smokes]
kind = "yes-no"
text = "Do you smoke?"
"""


@dataclass(frozen=True)
class Shot:
    """One picture: its file's name, the page, what is done there first, and how high the window is."""

    name: str
    path: str
    act: Callable[[Any], None]
    height: int = DESKTOP["height"]


def _asked(page: Any) -> None:
    page.locator("#noise", has_text="expected noise").wait_for()
    page.click("#go")
    page.locator("#panel-table tbody tr").first.wait_for()


def _class(page: Any) -> None:
    page.fill("#class-name", "autumn")
    page.fill("#class-size", "6")
    page.click("#new-class button")
    page.locator(".cards li").first.wait_for()
    page.locator("#class-sheet").scroll_into_view_if_needed()


def _rehearsed(page: Any) -> None:
    page.locator("#noise", has_text="expected noise").wait_for()
    page.click("#rehearse summary")
    page.fill("#seed", "7")
    page.click("#rehearse-go")
    page.locator("#rehearsal tbody tr").first.wait_for()


def _attacked(page: Any) -> None:
    page.click("#go")
    page.locator("#work").wait_for(state="hidden", timeout=60_000)
    page.locator(".sides, #result h2, .released").first.wait_for()


def _published(page: Any) -> None:
    page.click("#rehearse")
    page.locator("#work").wait_for(state="hidden", timeout=60_000)
    page.locator("#publish").scroll_into_view_if_needed()


def _answered(page: Any) -> None:
    """Let some made-up respondents answer, each on a device of their own, then show the owner's page."""
    home = page.url
    for place in range(RESPONDENTS):
        device = page.context.browser.new_context(viewport=PHONE)
        phone = device.new_page()
        phone.goto(home.replace("/surveys/", "/s/"))
        phone.locator(".pair button").first.click()
        phone.locator("#survey[data-step=questions]").wait_for()
        phone.locator(f"input[name=smokes][value={'yes' if place % 3 == 0 else 'no'}]").check()
        phone.locator(".pair button").first.click()
        phone.locator("#survey[data-step=preview]").wait_for()
        phone.locator(".pair button").first.click()
        phone.locator("#survey[data-step=sent]").wait_for()
        device.close()
    page.reload()
    _settled(page)


def _settled(page: Any) -> None:
    page.wait_for_load_state("networkidle")


RESPONDENTS = 24
EDUCATION = "/ask?sql=SELECT+education,+COUNT(*)+AS+n%0AFROM+people%0AWHERE+age+%3E%3D+65%0AGROUP+BY+education"
SHOTS = (
    Shot("ask", EDUCATION, _asked, 1010),
    Shot("budget", "/budget", _settled),
    Shot("lab", "/lab/differencing", _attacked, 1000),
    Shot("publish", "/publish", _published, 900),
    Shot("survey", "/surveys/smoking", _answered),
    Shot("course", "/course", _settled),
    Shot("lesson", "/course/promise", _settled),
    Shot("class", "/course/teacher", _class),
    Shot("rehearse", EDUCATION, _rehearsed, 1010),
    Shot("data", "/data", _settled),
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def demo() -> Iterator[str]:
    """Lend the address of a demo of its own, signed in as its owner; it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="discreet-screenshots-") as folder:
        home = Path(folder) / "town"
        survey = Path(folder) / "smoking.toml"
        survey.write_text(SURVEY, encoding="utf-8")
        begin = "from discreet.cli.app import run; import sys; sys.exit(run(sys.argv[1:]))"
        command = [sys.executable, "-c", begin]
        words = ["demo", "--no-browser", "--people", PEOPLE, "--folder", str(home)]
        server = subprocess.Popen(
            [*command, *words, "--port", str(_free_port())],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert server.stdout is not None, "a pipe was asked for"
            address = next(
                found[0]
                for line in server.stdout
                if (found := re.search(r"http://127\S+token=\S+", line))
            )
            subprocess.run(
                [*command, "survey", "new", str(survey)], cwd=home, check=True, capture_output=True
            )
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def walk(address: str, shots: list[Shot], out: Path, *, phone: bool, dark: bool) -> list[Path]:
    """Return the pictures that were written, one for each of `shots`."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no chromium here: `make setup` says how to get it.")
    base, _, _ = address.partition("/ask?")
    written = []
    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        context = browser.new_context(
            viewport=PHONE if phone else DESKTOP,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(address)
        for shot in shots:
            if not phone:
                page.set_viewport_size({**DESKTOP, "height": shot.height})
            page.goto(base + shot.path)
            shot.act(page)
            page.evaluate("document.activeElement?.blur()")
            if shot.name not in KEEP_PLACE:
                page.evaluate("window.scrollTo(0, 0)")
            target = out / f"{shot.name}.png"
            page.screenshot(path=target, full_page=phone, animations="disabled")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            print(
                f"{target.name}: {target.stat().st_size:,} bytes{' SIDEWAYS' if wide > 0 else ''}"
            )
            written.append(target)
        browser.close()
    return written


def main() -> None:
    """Write the pictures, and refuse those that are too large for the repository."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("names", nargs="*", help="only these pictures")
    reader.add_argument("--out", type=Path, default=IMAGES)
    reader.add_argument("--phone", action="store_true", help="390 pixels wide, whole pages")
    reader.add_argument("--dark", action="store_true")
    wanted = reader.parse_args()
    shots = [shot for shot in SHOTS if not wanted.names or shot.name in wanted.names]
    wanted.out.mkdir(parents=True, exist_ok=True)
    with demo() as address:
        written = walk(address, shots, wanted.out, phone=wanted.phone, dark=wanted.dark)
    large = [path.name for path in written if path.stat().st_size > LARGEST and not wanted.phone]
    if large:
        sys.exit(f"Larger than {LARGEST:,} bytes: {', '.join(large)}")


if __name__ == "__main__":
    main()
