"""The documents as a folder of HTML that any web server, or none, can show: `make docs`.

The same renderer as the pages of `discreet serve`; no script, no font, nothing from elsewhere. Links
to documents and notes lead inside the folder; those to pages that need a server become words.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from discreet.server.feature import HERE
from discreet.server.features.docs.pages import GROUPS, all_notes, doc, docs_folder

STYLES = ("tokens.css", "base.css", "controls.css", "notes.css")
_LINK = re.compile(r'<a href="(/[^"#]*)(#[^"]*)?">(.*?)</a>', re.DOTALL)
_PICTURE = re.compile(r'src="/docs/(images/[^"]+)"')
_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""\
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>{{ title }} · discreet</title>
  {% for style in styles %}
  <link rel="stylesheet" href="{{ top }}static/{{ style }}">
  {% endfor %}
</head>
<body>
  <header class="line"><div class="inner top"><a class="brand" href="{{ top }}index.html">discreet</a></div></header>
  <main id="main" class="inner"><article class="note doc">
<h1>{{ title }}</h1>
{{ body }}
  </article></main>
</body>
</html>
""")


def pages() -> Iterator[tuple[str, str, Markup]]:
    """Yield every page: its place in the folder, its title and its body, linked as on the server."""
    parts = []
    for group, names in GROUPS.items():
        lines = [
            Markup('<li><a href="/docs/{}">{}</a></li>').format(n, doc(n).title) for n in names
        ]
        parts.append(Markup("<h2>{}</h2><ul>{}</ul>").format(group, Markup("").join(lines)))
        yield from ((f"{name}.html", doc(name).title, doc(name).body) for name in names)
    notes = all_notes()
    parts.append(
        Markup('<h2>Why it holds</h2><p><a href="/notes">{} notes</a></p>').format(len(notes))
    )
    yield "index.html", "Documentation", Markup("\n").join(parts)
    listed = [
        Markup('<li>{0} <a href="/notes/{0}">{1}</a></li>').format(number, note.title)
        for number, note in notes.items()
    ]
    yield "notes/index.html", "Notes", Markup("<ul>{}</ul>").format(Markup("").join(listed))
    yield from ((f"notes/{number}.html", note.title, note.body) for number, note in notes.items())


def file_of(address: str) -> str | None:
    """Return the file that shows an address of the server; None for a page that only a server has.

    >>> file_of("/docs"), file_of("/docs/sql"), file_of("/notes/0042"), file_of("/course/noise")
    ('index.html', 'sql.html', 'notes/0042.html', None)
    """
    if address in ("/docs", "/notes"):
        return "index.html" if address == "/docs" else "notes/index.html"
    room, _, name = address.removeprefix("/").partition("/")
    return {"docs": f"{name}.html", "notes": f"notes/{name}.html"}.get(room)


def standing_alone(place: str, body: str) -> str:
    """Return the body of a page with links that hold without a server."""
    here = posixpath.dirname(place) or "."

    def led(match: re.Match[str]) -> str:
        file = file_of(match[1])
        if file is None:
            return match[3]
        return f'<a href="{posixpath.relpath(file, here)}{match[2] or ""}">{match[3]}</a>'

    shown = _PICTURE.sub(lambda m: f'src="{posixpath.relpath(m[1], here)}"', body)
    return _LINK.sub(led, shown)


def export(folder: Path) -> int:
    """Write all pages with their styles and pictures; return how many pages there are."""
    count = 0
    for place, title, body in pages():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        top = "../" * place.count("/")
        shown = Markup(standing_alone(place, body))  # noqa: S704  # our own renderer's markup
        path.write_text(
            _PAGE.render(title=title, body=shown, top=top, styles=STYLES), encoding="utf-8"
        )
        count += 1
    (folder / "static").mkdir(exist_ok=True)
    for style in STYLES:
        shutil.copy(HERE / "static" / style, folder / "static")
    shutil.copytree(docs_folder() / "images", folder / "images", dirs_exist_ok=True)
    return count


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "build/docs")
    print(f"{export(target)} pages in {target}: open {target / 'index.html'}")
