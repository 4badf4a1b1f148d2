"""TLS over any of the network streams, without a socket of its own (``ssl.MemoryBIO``).

1. One implementation for the three faces: handshake, deadlines, closing and the look at what comes in while
   sending behave alike, and a plain close works everywhere.
2. The context is made once, at the first https request. A caller's own context is used as it is, never
   changed.
3. ``ssl.create_default_context`` is not used: it would write the session keys to the file named by
   SSLKEYLOGFILE. Of the environment only SSL_CERT_FILE and SSL_CERT_DIR count, which OpenSSL itself reads on
   Linux.
4. Why a handshake failed is decided by type and number: the texts name the host and quote the certificate.
"""

from __future__ import annotations

import ssl
import sys
import threading
from typing import TYPE_CHECKING

from svir.errors import ConfigError
from svir.http._net import Fault

if TYPE_CHECKING:
    import os

    from svir.http._net import Tcp

__all__ = ["TlsSettings", "TlsStream", "handshake_fault"]

RECORD_BYTES = 64 * 1024
"""Most plain bytes encrypted ahead of the network."""

_USUAL_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where distributions keep their authorities, for a Python whose OpenSSL was built to look elsewhere."""

_VERIFY_FAULTS = {
    9: Fault.TLS_EARLY,
    10: Fault.TLS_EXPIRED,
    18: Fault.TLS_UNTRUSTED,  # self-signed
    19: Fault.TLS_UNTRUSTED,  # an unknown root in the chain
    20: Fault.TLS_UNTRUSTED,  # no issuer found
    21: Fault.TLS_UNTRUSTED,  # the first certificate cannot be verified
    62: Fault.TLS_HOST,
    64: Fault.TLS_HOST,  # the same for an IP address
}
"""OpenSSL's X509_V_ERR numbers."""

_NO_TLS = {
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "UNKNOWN_PROTOCOL",
    "RECORD_LAYER_FAILURE",
    "PACKET_LENGTH_TOO_LONG",
}
"""OpenSSL's words for an answer that is no TLS at all."""


def handshake_fault(error: ssl.SSLError) -> Fault:
    """Why a handshake failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _VERIFY_FAULTS.get(error.verify_code, Fault.TLS_INVALID)
    return Fault.TLS_NONE if error.reason in _NO_TLS else Fault.TLS_FAILED


class TlsSettings:
    """Whom to trust: the system, a file of authorities, or a context of the caller's."""

    def __init__(self, ca_file: str | os.PathLike[str] | None, context: ssl.SSLContext | None) -> None:
        self._ca_file = ca_file
        self._context = context
        self._lock = threading.RLock()  # reentrant, as the engine's

    def context(self) -> ssl.SSLContext:
        """The context, made at the first call.

        Raises:
            svir.ConfigError: ``ca_file`` cannot be read, or holds no certificate.
        """
        if self._context is None:
            with self._lock:
                if self._context is None:
                    self._context = self._make()
        return self._context

    def _make(self) -> ssl.SSLContext:
        if self._ca_file is None and sys.platform in {"darwin", "win32"}:
            import truststore  # the system's own verification: OpenSSL does not see its store there

            context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.set_alpn_protocols(["http/1.1"])
            return context
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        if self._ca_file is None:
            _load_system(context)
            return context
        wrong = None
        try:
            context.load_verify_locations(cafile=self._ca_file)
        except ssl.SSLError:
            wrong = "ca_file holds no certificate in PEM form"
        except (OSError, ValueError, TypeError):
            wrong = "ca_file cannot be read"
        if wrong is not None:
            raise ConfigError(wrong, unsent=True)
        return context


def _load_system(context: ssl.SSLContext) -> None:
    context.load_default_certs()
    paths = ssl.get_default_verify_paths()
    if not paths.cafile and not paths.capath:
        for place in _USUAL_PLACES:
            try:
                context.load_verify_locations(cafile=place)
            except OSError:  # ssl.SSLError is one too
                continue
            return


class TlsStream:
    """A connection over TLS, on top of a plain one. Make it, then ``handshake``."""

    def __init__(self, tcp: Tcp, context: ssl.SSLContext, host: str) -> None:
        self.watch = tcp.watch
        self.lease = tcp.lease
        self.sent = 0
        self.streamed = False
        self.proved: set[bool] = set()
        self.rested = 0.0
        self._tcp = tcp
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._out = memoryview(b"")  # encrypted, not yet taken by the kernel
        self._plain = 0  # plain bytes that ``_out`` stands for
        self._counted = True  # whether those are in ``sent``
        wrong = False
        try:
            # As bytes, without the root's dot or an IPv6 zone: a string goes through Python's idna codec.
            name = host.partition("%")[0].rstrip(".").encode("ascii")
            self._ssl = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)
        except (ValueError, ssl.SSLError):
            wrong = True
        if wrong:
            raise ConfigError("the server's host cannot be used with TLS", unsent=True)

    async def handshake(self, until: float | None) -> Fault | None:
        """Agrees on keys and verifies the server; None when that worked."""
        while True:
            fault = None
            done = False
            try:
                self._ssl.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                fault = handshake_fault(error)
            flushed = await self._flush(until)  # an alert too: it tells the server why
            if fault is not None or flushed is not None:
                return fault or flushed
            if done:
                chosen = self._ssl.selected_alpn_protocol()
                return None if chosen in {None, "http/1.1"} else Fault.TLS_PROTOCOL
            got = await self._tcp.read(until)
            if isinstance(got, Fault):
                return got
            self._received(got)

    async def read(self, until: float | None) -> bytes | Fault:
        while True:
            plain = self._decrypt()
            if plain is not None:
                return plain
            got = await self._tcp.read(until)
            if isinstance(got, Fault):
                return got
            self._received(got)

    async def write(self, data: memoryview, until: float | None, *, look: bool) -> int | bytes | Fault:
        # What came last may have been more than one record.
        if look and (plain := self._decrypt()) is not None:
            return plain
        if not self._out:
            wrong = False
            try:
                self._plain = self._ssl.write(data[:RECORD_BYTES])
            except ssl.SSLError:
                wrong = True
            if wrong:
                return Fault.TLS_BROKEN
            self._counted = False
            self._out = memoryview(self._outgoing.read())
        before = self._tcp.sent
        try:
            outcome = await self._tcp.write(self._out, until, look=look)
        finally:
            # Whatever came of it: it may have been closed just after the kernel had taken some.
            if self._tcp.sent > before and not self._counted:
                self._counted = True
                self.sent += self._plain
        if isinstance(outcome, bytes):
            self._received(outcome)
            plain = self._decrypt()
            return 0 if plain is None else plain  # a session ticket is no answer
        if isinstance(outcome, Fault):
            return outcome
        self._out = self._out[outcome:]
        return 0 if self._out else self._plain

    def quiet(self) -> bool:
        while not self.watch.closed:
            plain = self._decrypt()
            if plain is not None:
                return False
            got = self._tcp.take()
            if got is None:
                return True
            if isinstance(got, Fault):
                return False
            self._received(got)
        return False

    def _received(self, data: bytes) -> None:
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _decrypt(self) -> bytes | Fault | None:
        """Plain bytes of what has come in, None when it is no whole record yet."""
        if not self._incoming.pending and not self._ssl.pending() and not self._incoming.eof:
            return None
        try:
            return self._ssl.read(RECORD_BYTES)
        except ssl.SSLWantReadError:
            return None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""  # many servers end without saying so; whether the body is whole is HTTP's to tell
        except ssl.SSLError:
            return Fault.TLS_BROKEN
        finally:
            self._answer()

    def _answer(self) -> None:
        """Hands on what TLS itself has to say (a new key); what is not taken goes with the next write."""
        if self._outgoing.pending:
            if not self._out:
                self._plain = 0  # else the next write would take these for bytes of the request
            out = memoryview(bytes(self._out) + self._outgoing.read())
            taken = self._tcp.give(out) if not self._out else None
            self._out = out[taken:] if isinstance(taken, int) else out

    async def _flush(self, until: float | None) -> Fault | None:
        out = memoryview(self._outgoing.read())
        while out:
            taken = await self._tcp.write(out, until, look=False)
            if isinstance(taken, Fault):
                return taken
            if isinstance(taken, int):
                out = out[taken:]
        return None
