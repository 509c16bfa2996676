"""Says what is missing where swarmgate was installed without the packages of its server."""

from __future__ import annotations

from importlib.util import find_spec

from swarmgate.errors import MissingRequirement

_PACKAGES = (
    "argon2",
    "authlib",
    "fastapi",
    "jwt",
    "limits",
    "prometheus_client",
    "redis",
    "socketio",
    "structlog",
    "uvicorn",
)


def require_server_extra() -> None:
    """Returns where the packages of the extra `server` are installed.

    Raises:
        MissingRequirement: one of them is not.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingRequirement(
            f"The packages of the team server are not installed: {', '.join(missing)}",
            hint="Add them to this installation: pip install 'swarmgate[server]'",
        )
