"""The doctor's check of model endpoints: whether they accept connections, and whether the transport is safe.

What they answer when they are asked for their lists of models is the engine's to ask: this room knows no models.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Config

NAME = "endpoints"
WITHIN_S = 2.0
"""Longest time for all connections together; they are tried at the same time."""
_PORTS = {"http": 80, "https": 443}
_HOME = (".local", ".lan", ".home", ".internal", ".localhost", ".home.arpa")
"""Names that are given inside of one network only (RFC 6761, RFC 6762, RFC 8375, and what routers give)."""

Address = tuple[str, int]


def inspect(config: Config, places: Places) -> tuple[Problem, ...]:
    """Each provider whose host does not answer, or is reached in the open."""
    addresses = {name: address_of(provider.base_url) for name, provider in config.providers.items()}
    silent = connect(set(addresses.values()))
    found = []
    for name, provider in config.providers.items():
        place = places.of("providers", name, "base_url")
        host, port = addresses[name]
        if why := silent.get((host, port)):
            message = f"provider {name}: nothing answers at {host} port {port}: {why}"
            found.append(Problem(NAME, message, *place, "start it, or mend base_url", "error"))
        if in_the_open(provider.base_url):
            found.append(_open(name, place, key=provider.api_key_env))
    return tuple(found)


def _open(name: str, place: tuple[str, int], *, key: str) -> Problem:
    if key:
        message = f"provider {name}: the key in {key} is sent over http, where everybody on the way can read it"
        return Problem(NAME, message, *place, "use https, and change the key", "error")
    message = f"provider {name}: your code is sent over http, where everybody on the way can read and change it"
    return Problem(NAME, message, *place, "use https")


def in_the_open(base_url: str) -> bool:
    """Whether it is http to a host that is neither this machine nor in a private network."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme != "http":
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith(_HOME)


def address_of(base_url: str) -> Address:
    """Where a connection goes: to the host, or to the proxy that requests to it would take."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    proxy = getproxies().get(parts.scheme) or getproxies().get("all")
    if proxy and not proxy_bypass(host):
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        host = parts.hostname or ""
    return host, parts.port or _PORTS.get(parts.scheme, 1080)


def connect(addresses: Iterable[Address], *, within_s: float = WITHIN_S) -> dict[Address, str]:
    """The addresses that do not answer in time, and why.

    A name that takes long to be looked up cannot be given up in its thread, so that thread is left behind.
    """
    wanted: Sequence[Address] = tuple(addresses)
    answers: dict[Address, str] = {}
    threads = [
        threading.Thread(target=_try, args=(each, within_s, answers), daemon=True, name="doctor") for each in wanted
    ]
    until = time.monotonic() + within_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    late = f"no answer within {within_s:g} s"
    answered = {each: answers.get(each, late) for each in wanted}
    return {each: why for each, why in answered.items() if why}


def _try(address: Address, within_s: float, answers: dict[Address, str]) -> None:
    try:
        socket.create_connection(address, timeout=within_s).close()
        answers[address] = ""
    except TimeoutError:
        answers[address] = f"no answer within {within_s:g} s"
    except (OSError, UnicodeError) as error:
        answers[address] = getattr(error, "strerror", None) or str(error)
