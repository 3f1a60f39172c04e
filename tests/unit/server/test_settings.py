from pathlib import Path

import pytest

from discreet.errors import InvalidInput
from discreet.server.settings import Settings

HERE = Path("discreet.toml")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_loopback_needs_nothing(host):
    assert Settings(config=HERE, host=host).loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "curator.example"])
def test_other_addresses_need_tls_or_a_word(host):
    with pytest.raises(InvalidInput, match="plain HTTP"):
        Settings(config=HERE, host=host)
    assert not Settings(config=HERE, host=host, allow_plain_http=True).tls
    certificate = {"tls_certificate": Path("a.pem"), "tls_key": Path("b.pem")}
    assert Settings(config=HERE, host=host, **certificate).address.startswith("https://")


def test_half_of_tls_is_refused():
    with pytest.raises(InvalidInput, match="both"):
        Settings(config=HERE, tls_key=Path("b.pem"))


def test_places():
    settings = Settings(config=Path("a") / "discreet.toml", host="::1", port=99)
    assert settings.state_folder == Path("a") / ".discreet"
    assert settings.address == "http://[::1]:99"
    assert settings.cookie == "discreet_99"
