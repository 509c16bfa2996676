"""The log of the server: lines of text or JSON on stderr, in which no secret stands."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Literal

import structlog

from swarmgate.domain.text.redaction import MASK

if TYPE_CHECKING:
    from structlog.typing import Processor

_SECRET = ("authorization", "cookie", "password", "secret", "token", "api_key", "csrf")
"""Parts of names whose values are never written, whatever they look like."""

_PARTS = 6
"""Levels of a value that are looked at; deeper ones are written as text first."""


def configure(
    *, style: Literal["text", "json"], level: str, redact: Callable[[str], str], colours: bool | None = None
) -> None:
    """Sends the lines of structlog and of Python's logging to stderr, one form for both.

    Args:
        style: how a line reads.
        level: from where on lines are written: debug, info, warning, error.
        redact: masks the secrets in a text.
        colours: whether text is coloured; None: on a terminal.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        _Redaction(redact),
    ]
    end: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty() if colours is None else colours)
    )
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, end]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "asyncio", "engineio", "socketio", "uvicorn", "watchdog"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))


class _Redaction:
    """Masks what is secret by its name, and secrets in every text."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        for name in [*event]:
            if not name.startswith("_"):
                event[name] = self._masked(name, event[name], _PARTS)
        return event

    def _masked(self, name: str, value: Any, depth: int) -> Any:
        if any(part in name.lower() for part in _SECRET):
            return MASK
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if depth and isinstance(value, dict):
            return {str(key): self._masked(str(key), each, depth - 1) for key, each in value.items()}
        if depth and isinstance(value, (list, tuple)):
            return [self._masked("", each, depth - 1) for each in value]
        return self._redact(value if isinstance(value, str) else str(value))
