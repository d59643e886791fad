"""Fetching over TLS: the name is proven though the connection goes to an address."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from vr_kernel.errors import VrError
from web_service import Site, at, leads_to, reply

HOST = "secure.example"
PAGES = {
    "/": reply(),
    "/down": leads_to(f"http://{HOST}/"),
    "/over": leads_to("https://other.example/"),
}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of HOST that signs itself, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "site.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + secret)
    return file


@pytest.fixture
def asked_names() -> list[str | None]:
    """The names that clients asked for in their handshakes."""
    return []


@pytest.fixture
async def site(certificate: Path, asked_names: list[str | None]) -> AsyncIterator[Site]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.sni_callback = lambda _socket, name, _context: asked_names.append(name)
    async with Site(PAGES).serving(tls=tls) as made:
        yield made


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


async def _error(work: object) -> VrError:
    with pytest.raises(VrError) as caught:
        await work  # type: ignore[misc]
    return caught.value


@pytest.mark.usefixtures("trusted")
async def test_the_name_is_proven(site: Site, asked_names: list[str | None]) -> None:
    page = await at(site).fetch(f"https://{HOST}/")
    assert page.content == b"hello"
    assert asked_names == [HOST]
    assert site.headers()["host"] == HOST


@pytest.mark.usefixtures("trusted")
async def test_the_trailing_dot_is_no_part_of_the_name(
    site: Site, asked_names: list[str | None]
) -> None:
    await at(site).fetch(f"https://{HOST}./")
    assert asked_names == [HOST]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("path", ["https://other.example/", f"https://{HOST}/over"])
async def test_another_name_is_refused(site: Site, path: str) -> None:
    error = await _error(at(site).fetch(path))
    assert (error.category, error.retryable) == ("NETWORK_ERROR", False)
    assert "prove its identity" in error.message


async def test_nobody_signed_it(site: Site) -> None:
    error = await _error(at(site).fetch(f"https://{HOST}/"))
    assert "prove its identity" in error.message
    assert site.requests == []


@pytest.mark.usefixtures("trusted")
async def test_https_does_not_lead_to_http(site: Site) -> None:
    error = await _error(at(site).fetch(f"https://{HOST}/down"))
    assert error.category == "URL_NOT_ALLOWED"
    assert len(site.requests) == 1


async def test_the_certificates_are_missing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    error = await _error(at(site).fetch(f"https://{HOST}/"))
    assert (error.category, error.retryable) == ("NETWORK_ERROR", False)
    assert "SSL_CERT_FILE" in error.hint


async def test_a_handshake_that_never_ends_is_left_in_time() -> None:
    heard = asyncio.Event()
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set()
        await reader.read()
        left.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    site = Site({})
    site.port = server.sockets[0].getsockname()[1]
    error = await _error(at(site).fetch(f"https://{HOST}/", deadline_s=0.2))
    assert error.category == "NETWORK_ERROR"
    await left.wait()
    assert heard.is_set()
    server.close()
    await server.wait_closed()


async def test_the_other_side_does_not_speak_tls() -> None:
    async with Site({}).serving() as plain:

        async def banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 mail.example ESMTP\r\n")
            await reader.read(1)
            writer.close()

        server = await asyncio.start_server(banner, "127.0.0.1", 0)
        plain.port = server.sockets[0].getsockname()[1]
        error = await _error(at(plain).fetch(f"https://{HOST}/"))
        assert error.category == "NETWORK_ERROR"
        server.close()
        await server.wait_closed()
