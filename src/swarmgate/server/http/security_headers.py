"""What every answer tells a browser: nothing inline, nothing foreign, no frames, no guesses, nothing kept."""

from __future__ import annotations

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # `no-referrer` would have browsers send `Origin: null` with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_UNLESS_SAID = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Cache-Control": "no-store"}
"""Where a route says something of its own, such as a cached style sheet, that stands."""
_OVER_TLS = {"Strict-Transport-Security": "max-age=31536000"}

Headers = list[tuple[bytes, bytes]]


def _encoded(headers: dict[str, str]) -> Headers:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


_PLAIN, _TLS, _DEFAULTS = _encoded(_ALWAYS), _encoded(_ALWAYS | _OVER_TLS), _encoded(_UNLESS_SAID)


def with_security(headers: Headers, *, tls: bool) -> Headers:
    """The headers of an answer with those that belong to every one."""
    said = {name.lower() for name, _ in headers}
    return [*headers, *(_TLS if tls else _PLAIN), *(each for each in _DEFAULTS if each[0] not in said)]
