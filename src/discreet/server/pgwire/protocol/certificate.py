"""The certificate: the owner's, or a self-signed one made once in the state folder."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from discreet.core.system.atomic_file import write_whole
from discreet.errors import InvalidInput
from discreet.server.settings import Settings

CERTIFICATE, KEY = "pg-certificate.pem", "pg-key.pem"
YEARS = 10


@dataclass(frozen=True, slots=True)
class Tls:
    """A context for the server's side, and the hash that SCRAM binds a channel to (RFC 5929)."""

    context: ssl.SSLContext
    binding: bytes


def tls_of(settings: Settings) -> Tls:
    """Return TLS with the certificate of `settings`, or with our own, made if there is none yet."""
    if settings.tls_certificate is not None and settings.tls_key is not None:
        certificate, key = settings.tls_certificate, settings.tls_key
    else:
        certificate, key = own_certificate(settings.state_folder, settings.host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        return Tls(context, _binding(certificate.read_bytes()))
    except (OSError, ValueError):
        raise InvalidInput(
            f"'{certificate}' and its key cannot be used for TLS.",
            hint="Both must be PEM files, and the key must not ask for a password.",
        ) from None


def own_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Return the paths of a self-signed certificate and its key."""
    certificate, key = folder / CERTIFICATE, folder / KEY
    if not (certificate.is_file() and key.is_file()):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made, secret = _self_signed(host)
        write_whole(key, secret)
        write_whole(certificate, made)
    return certificate, key


def _self_signed(host: str) -> tuple[bytes, bytes]:
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Discreet")])
    now = dt.datetime.now(dt.UTC)
    names: list[x509.GeneralName] = [x509.DNSName("localhost")]
    try:
        names.append(x509.IPAddress(ipaddress.ip_address(host)))
    except ValueError:
        names.append(x509.DNSName(host))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=365 * YEARS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(secret, hashes.SHA256())
    )
    spelled = secret.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.public_bytes(serialization.Encoding.PEM), spelled


def _binding(pem: bytes) -> bytes:
    certificate = x509.load_pem_x509_certificates(pem)[0]
    signed = certificate.signature_hash_algorithm
    # RFC 5929: the certificate's own hash function, but never one weaker than SHA-256.
    weak = signed is None or isinstance(signed, hashes.MD5 | hashes.SHA1)
    return certificate.fingerprint(hashes.SHA256() if weak or signed is None else signed)
