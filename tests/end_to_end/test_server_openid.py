"""Signing in by OpenID Connect, against a provider on this machine, honest and lying."""

import json
import re
import time
from contextlib import contextmanager

import pytest

from discreet.errors import InvalidInput
from discreet.server.features.openid.provider import read_openid
from discreet.server.settings import Settings
from openid_kit import CLIENT, OTHER, SECRET, curve_key, local_provider, rsa_key
from ports import free_port
from server_kit import plain_client, running, write_world

API = "/api/v1"
FILE = """
issuer = "{issuer}"
client_id = "{client}"
client_secret_env = "DISCREET_TEST_SECRET"
address = "{address}"
claim = "email"
[people]
"ann@example.org" = "alice"
"olga@example.org" = "role:owner"
"old@example.org" = "nobody-any-more"
"""


@pytest.fixture(scope="module")
def provider():
    with local_provider() as found:
        yield found


@pytest.fixture(scope="module")
def server(provider, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    file = folder / "openid.toml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_TEST_SECRET", SECRET)
        # The port is chosen while starting: the address is put right before anybody signs in.
        address = f"http://127.0.0.1:{free_port()}"
        file.write_text(FILE.format(issuer=provider.url, client=CLIENT, address=address))
        with running(write_world(folder, rows=20), openid=file) as found:
            mine = found.app.state.openid
            object.__setattr__(mine.settings, "address", found.url)
            yield found


@pytest.fixture(autouse=True)
def honest(provider, server):
    provider.claims, provider.signing, provider.says = {}, {}, {}
    provider.keys = [rsa_key(), curve_key()]
    server.app.state.openid._said = {}


def went(browser, provider_client):
    """Leave for the provider and come back with what it sends; return that address."""
    left = browser.get("/openid")
    assert left.status_code == 303, left.text
    sent_back = provider_client.get(left.headers["location"])
    return sent_back.headers["location"]


@contextmanager
def signed_in(server):
    """Lend the page after coming back, and the browser."""
    with server.client() as browser, plain_client() as outside:
        yield browser.get(went(browser, outside), headers={"Sec-Fetch-Site": "cross-site"}), browser


def whoami(browser):
    found = browser.get(f"{API}/session").json()
    return found.get("analyst") or found.get("role")


def pressed(browser, shown):
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
    return browser.post("/openid/confirm", data=fields, headers={"Sec-Fetch-Site": "same-origin"})


@pytest.mark.parametrize(
    ("email", "name"), [("ann@example.org", "alice"), ("olga@example.org", "owner")]
)
@pytest.mark.parametrize("signing", [{}, {"alg": "ES256", "kid": "two"}], ids=["RS256", "ES256"])
def test_a_person_signs_in_as_their_account_after_being_asked(
    server, provider, email, name, signing
):
    provider.claims, provider.signing = {"email": email}, signing
    with signed_in(server) as (shown, browser):
        assert shown.status_code == 200, shown.text
        assert f"Sign in as {name}?" in shown.text
        assert email in shown.text
        assert whoami(browser) is None  # not before the form is sent
        assert pressed(browser, shown).status_code == 303
        assert whoami(browser) == name


def test_a_token_is_made_by_the_form_and_ends_with_the_session(server):
    before = {token.id for token in server.context.tokens.all()}
    with signed_in(server) as (shown, browser):
        assert {token.id for token in server.context.tokens.all()} == before, "not by looking"
        assert "dsc_" not in shown.text
        assert pressed(browser, shown).status_code == 303
        [made] = [token for token in server.context.tokens.all() if token.id not in before]
        assert made.label == "OpenID Connect: ann@example.org"
        assert made.expires - time.time() <= server.context.settings.session_hours * 3600
        lines = server.context.access.audit.last(5)
        assert any(line.who == "openid" and line.what == "token made" for line in lines)
        assert pressed(browser, shown).status_code == 401, "a confirmation is used once"
        assert server.context.tokens.by_id(made.id) is not None
        csrf = browser.get(f"{API}/session").json()["csrf"]
        browser.delete(f"{API}/session", headers={"X-CSRF-Token": csrf})
        assert server.context.tokens.by_id(made.id) is None, "signing out ends it"


def test_a_confirmation_from_another_browser_signs_nobody_in(server):
    with signed_in(server) as (shown, browser), server.client() as other:
        assert pressed(other, shown).status_code == 401
        assert whoami(other) is None
        assert pressed(browser, shown).status_code == 303


def test_who_is_taken_out_of_the_file_is_signed_out(server, provider, monkeypatch):
    mine = server.app.state.openid
    monkeypatch.setattr("discreet.server.features.openid.provider.LOOK_AGAIN", 0.0)
    text = mine._file.read_text()
    address, provider.claims = mine.settings.address, {"email": "olga@example.org"}
    monkeypatch.setenv("DISCREET_TEST_SECRET", SECRET)
    try:
        with signed_in(server) as (shown, browser):
            assert pressed(browser, shown).status_code == 303
            assert whoami(browser) == "owner"
            mine._file.write_text("issuer = ")
            assert whoami(browser) == "owner", "a wrong file changes nothing"
            mine._file.write_text(text.replace('"olga@example.org" = "role:owner"', ""))
            assert whoami(browser) is None
            mine._file.write_text(text.replace('"role:owner"', '"role:reviewer"'))
            assert whoami(browser) is None, "another role is another sign-in"
            mine._file.write_text(text)
            assert whoami(browser) == "owner"
    finally:
        mine._file.write_text(text)
        mine.refresh()
        object.__setattr__(mine.settings, "address", address)


NOW = int(time.time())
LIES = {
    "unsigned": ({}, {"alg": "none"}),
    "signed by the public key": ({}, {"alg": "HS256"}),
    "signed by another key": ({}, {"key": OTHER}),
    "an RSA signature under the name of the curve's key": ({}, {"kid": "two"}),
    "a key that nobody has": ({}, {"kid": "three"}),
    "a header that must be understood": ({}, {"header": {"crit": ["exp"]}}),
    "another issuer": ({"iss": "https://elsewhere.example"}, {}),
    "another audience": ({"aud": "somebody-else"}, {}),
    "several audiences, authorized for another": ({"aud": [CLIENT, "b"], "azp": "b"}, {}),
    "several audiences, authorized for nobody": ({"aud": [CLIENT, "b"]}, {}),
    "expired": ({"exp": NOW - 3600}, {}),
    "without an end": ({"exp": None}, {}),
    "from the future": ({"iat": NOW + 10**6}, {}),
    "another sign-in's nonce": ({"nonce": "x"}, {}),
    "no nonce": ({"nonce": None}, {}),
    "not before a time to come": ({"nbf": NOW + 10**6}, {}),
    "good for ever": ({"exp": float("inf")}, {}),
    "a number beyond numbers": ({"exp": 10**400}, {}),
    "made before all times": ({"iat": -(10**400)}, {}),
    "half a letter as nonce": ({"nonce": "\ud800"}, {}),
    "half a letter as address": ({"email": "\ud800"}, {}),
    "a long address": ({"email": "a" * 100_000}, {}),
    "an unencoded body": ({}, {"header": {"b64": False}}),
    "a deep header": ({}, {"header": {"x": json.loads("[" * 500 + "]" * 500), "alg": "no"}}),
    "an address that was not verified": ({"email_verified": False}, {}),
    "no address": ({"email": None}, {}),
    "nobody who is listed": ({"email": "eve@example.org"}, {}),
    "an analyst who was taken out": ({"email": "old@example.org"}, {}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_signs_nobody_in(server, provider, lie):
    provider.claims, provider.signing = LIES[lie]
    before = len(server.context.tokens.all())
    with signed_in(server) as (shown, browser):
        assert shown.status_code == 401
        assert 'name="token" value="dsc_' not in shown.text
        assert whoami(browser) is None
    assert len(server.context.tokens.all()) == before


def test_new_keys_are_learnt(server, provider):
    with signed_in(server) as (shown, _):
        assert shown.status_code == 200
    provider.keys, provider.signing = [rsa_key(OTHER, "new")], {"key": OTHER, "kid": "new"}
    with signed_in(server) as (shown, _):
        assert shown.status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        {"use": "enc"},
        {"alg": "ES256"},
        {"key_ops": ["encrypt"]},
        {"key_ops": "verify"},
        {"e": "AQ"},
        {"e": rsa_key()["n"]},
        {"n": "A" * 500_000},
        {"n": 5},
    ],
    ids=lambda said: str(said)[:24] if "e" not in said else None,  # one of them is drawn anew
)
def test_a_key_that_is_not_for_this_is_not_used(server, provider, said):
    provider.keys = [rsa_key() | said]
    with signed_in(server) as (shown, _):
        assert shown.status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        "https://[",
        "https://x:99999999/",
        "http://evil.example/",
        "https://localhost\\@evil.example/",
        "https://a b/",
        "https://evil.example/\r\nSet-Cookie: x=1",
        "https://\ud800/",
        "javascript:alert(1)",
        None,
        {},
    ],
    ids=ascii,
)
@pytest.mark.parametrize("name", ["authorization_endpoint", "jwks_uri"])
def test_an_odd_address_of_a_provider_is_one_sentence(server, provider, name, address):
    provider.says = {name: address}
    with server.client() as browser:
        assert browser.get("/openid").status_code == 502


def test_what_comes_back_must_be_what_this_browser_left_with_and_once(server):
    with (
        plain_client() as outside,
        server.client() as browser,
        server.client() as victim,
    ):
        back = went(browser, outside)
        assert victim.get(back).status_code == 401  # somebody else's link: no cookie
        victim.get("/openid")
        assert victim.get(back).status_code == 401  # a cookie, of another sign-in
        assert browser.get(back).status_code == 200  # whose it is
    with plain_client() as outside, server.client() as browser:
        back = went(browser, outside)
        assert browser.get(back.replace("state=", "state=x")).status_code == 401
    with plain_client() as outside, server.client() as browser:
        back = went(browser, outside)
        assert browser.get(back).status_code == 200
        assert browser.get(back).status_code == 401  # the cookie is gone, and so is the code


def test_a_provider_that_says_it_is_another_one_is_left_alone(server, provider):
    provider.says = {"issuer": "https://elsewhere.example"}
    with server.client() as browser:
        assert browser.get("/openid").status_code == 502
    provider.says = {"token_endpoint": "http://elsewhere.example/token"}
    with server.client() as browser, plain_client() as outside:
        assert browser.get(went(browser, outside)).status_code == 401


def test_the_first_page_offers_it_only_where_there_is_one(server, tmp_path):
    with server.client() as browser:
        assert 'href="/openid"' in browser.get("/").text
    with running(write_world(tmp_path, rows=5)) as plain, plain.client() as browser:
        assert "/openid" not in browser.get("/").text
        assert browser.get("/openid").status_code == 404


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('issuer = "{issuer}"', 'issuer = "http://id.example.org"', "issuer"),
        ('address = "{address}"', 'address = "ftp://x"', "address"),
        ("client_id", "client_ident", "unknown setting"),
        ('"role:owner"', '"role:king"', "role:king"),
        ("DISCREET_TEST_SECRET", "NOT_SET_ANYWHERE", "not set"),
        ("[people]", "[people", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_no_server_starts(tmp_path, monkeypatch, old, new, said):
    monkeypatch.setenv("DISCREET_TEST_SECRET", SECRET)
    file = tmp_path / "openid.toml"
    text = FILE.replace(old, new).format(
        issuer="https://id.example.org", client="c", address="https://d.example.org"
    )
    file.write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_openid(file)
    if old == "[people]":
        from discreet.server.start import create_app

        with pytest.raises(InvalidInput):
            create_app(Settings(config=write_world(tmp_path / "w", rows=5), openid=file))
