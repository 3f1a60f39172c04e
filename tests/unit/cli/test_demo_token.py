"""How the demo's browser gets its token: not by the list of processes, where all can read it."""

import stat

import pytest

from discreet.cli import serve as demo

ADDRESS = "http://127.0.0.1:8765/?token=dsc_secret&a=<b>"


def test_the_page_that_leads_on_is_for_our_eyes_only(tmp_path):
    redirect_page = tmp_path / "open.html"
    redirect_page.write_text("an old one, for everybody")
    redirect_page.chmod(0o644)
    uri = demo.leading_to(ADDRESS, redirect_page)
    assert uri == redirect_page.as_uri()
    assert stat.S_IMODE(redirect_page.stat().st_mode) == 0o600
    assert "token=dsc_secret&amp;a=&lt;b&gt;" in redirect_page.read_text()


@pytest.mark.parametrize("shown", [True, False])
def test_no_command_line_holds_the_token(monkeypatch, tmp_path, shown):
    opened, printed = [], []

    def serve(settings, *, ready, log_level):
        ready()
        assert (tmp_path / ".discreet" / "open.html").is_file() is shown

    parts = demo_parts(serve)
    monkeypatch.setattr("discreet.cli.serve.server_parts", lambda *_: parts)
    monkeypatch.setattr("discreet.lab.town.town", lambda **_: parts.town(tmp_path))
    monkeypatch.setattr(demo, "_open_browser", opened.append)
    monkeypatch.setattr(demo, "_has_display", lambda: shown)
    monkeypatch.setattr("builtins.print", lambda *said, **_: printed.extend(said))
    demo.demo(people=1000, folder=tmp_path, port=None, pg_port=None, no_browser=False)
    assert any("/ask?token=dsc_" in line for line in printed)
    assert len(opened) == int(shown)
    assert all(uri.startswith("file://") and "dsc_" not in uri for uri in opened)
    assert not (tmp_path / ".discreet" / "open.html").exists()


def demo_parts(serve):
    from types import SimpleNamespace

    from discreet.cli.serve import server_parts

    real = server_parts()
    named = {name: getattr(real, name) for name in ("Settings", "AccessDb", "Tokens", "Role")}

    def town(folder):
        (folder / "discreet.toml").write_text("")
        return SimpleNamespace(toml=folder / "discreet.toml")

    return SimpleNamespace(
        **named, DEFAULT_PORT=8765, refuse_taken=lambda *_: None, serve=serve, town=town
    )
