"""Checks whether endpoints can be reached with their keys, without using tokens: `GET {base_url}/models`.

Not every endpoint lists its models: one that answers 404 or 405 there is reached as well. Import this module late:
`openai` takes long to load.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping

import openai

from swarmgate.config import PROJECT_FILE, Config, Provider, is_program
from swarmgate.domain.preflight import Reach
from swarmgate.domain.text.redaction import redact
from swarmgate.llm.endpoint import web_pages
from swarmgate.llm.endpoint.openai_model import is_transport

TIMEOUT_S = 10.0
"""Longest time of one look."""

_KEYS = {401: "refuses the key", 403: "does not let the key in"}
_PAID = 402
_NOT_FOUND = 404
_NOT_HERE = (_NOT_FOUND, 405, 501)
"""It answers, and has no list of models."""
_BUSY = 429
_GOOD = 200
_REFUSALS = {
    407: "a proxy on the way wants a login",
    410: "the endpoint says that it is gone",
    421: "the endpoint is not made for this address",
    451: "the endpoint is closed for legal reasons",
}
_NO_LIST, _PAGE = "answers, but not with a list of models", "answers with a web page, not with a list of models"
READ_BYTES = 65_536
"""So much of an answer is read: lists may be long, and may have no end."""
LIST_BYTES = 8_000_000
"""Of a list whose names matter; that of OpenRouter has half a megabyte."""
_REDIRECTS = range(300, 400)
_SERVER_ERRORS = 500


async def reach(
    models: Iterable[str], config: Config, environ: Mapping[str, str], *, timeout_s: float = TIMEOUT_S
) -> tuple[Reach, ...]:
    """Checks the endpoint of each of these models, each endpoint once, all concurrently.

    Args:
        models: `provider/model`; agent programs (`command:`) have no endpoint and are left out.
        config: the settings, which know each provider.
        environ: where the keys stand.
        timeout_s: longest time of one look.

    Returns:
        One record a provider, in the order in which they are first named.

    Raises:
        ConfigError: there is no such provider.
    """
    named = dict.fromkeys(model.partition("/")[0] for model in models if not is_program(model))
    providers = {name: config.provider(f"{name}/any")[0] for name in named}
    checks = (_reached(name, provider, environ, timeout_s) for name, provider in providers.items())
    return tuple(await asyncio.gather(*checks))


async def _reached(name: str, provider: Provider, environ: Mapping[str, str], timeout_s: float) -> Reach:
    started = time.monotonic()
    variable = provider.api_key_env
    key = environ.get(variable, "").strip() if variable else ""
    if variable and not (key and key.isascii() and key.isprintable()):
        what = "holds no usable key" if key else "is not set"
        problem, hint = f"the environment variable {variable} {what}", f"export {variable}=..."
        answered = ""
    else:
        answered, problem, hint = await _asked(name, provider, key, timeout_s)
    return Reach(
        provider=name,
        base_url=provider.base_url,
        answered=answered,
        problem=redact(problem, (key,)),
        hint=hint,
        seconds=time.monotonic() - started,
    )


async def _asked(name: str, provider: Provider, key: str, timeout_s: float) -> tuple[str, str, str]:
    """What the endpoint answered, what is wrong with that, and what to look at; the last alone is a doubt."""
    where = f"[providers.{name}] base_url in {PROJECT_FILE}"
    try:
        async with asyncio.timeout(timeout_s):
            status, body = await _answer(provider, key)
    except TimeoutError:
        return "", f"no answer within {timeout_s:g} s", f"Is it up, and is the network? See {where}."
    except Exception as error:
        if not (is_transport(error) or isinstance(error, ValueError)):
            raise
        why = str(error) or type(error).__name__
        return "", f"the connection failed: {why}", f"Is it running? See {where}."
    return _outcome(status, body, provider, where)


async def listed(provider: Provider, key: str, *, timeout_s: float = TIMEOUT_S) -> tuple[str, ...]:
    """The ids of the models that an endpoint lists; none where it lists none, or does not answer.

    Args:
        provider: the endpoint.
        key: its key; empty: it needs none.
        timeout_s: longest time of the look.
    """
    try:
        async with asyncio.timeout(timeout_s):
            status, body = await _answer(provider, key, LIST_BYTES)
        data = json.loads(body) if status == _GOOD else None
    except (TimeoutError, ValueError, RecursionError):
        return ()
    except Exception as error:
        if not is_transport(error):
            raise
        return ()
    found = next((data[name] for name in ("data", "models") if name in data), None) if isinstance(data, dict) else data
    entries = found if isinstance(found, list) else ()
    ids = (each if isinstance(each, str) else _id_of(each) for each in entries)
    return tuple(dict.fromkeys(each for each in ids if each))


def _id_of(entry: object) -> str:
    """`id` of OpenAI's form, `name` or `model` of others."""
    keys = ("id", "name", "model")
    return next((str(entry[key]) for key in keys if entry.get(key)), "") if isinstance(entry, dict) else ""


async def _answer(provider: Provider, key: str, limit: int = READ_BYTES) -> tuple[int, bytes]:
    """The status, and the beginning of the body of a good one, up to `limit` bytes.

    As for calls (`OpenAIModel`): no trust store for plain http. A redirect is reported, not followed.
    """
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    client = openai.DefaultAsyncHttpxClient(
        verify=not provider.base_url.startswith("http://"),
        follow_redirects=False,
        headers=headers | dict(provider.headers),
        timeout=None,
    )
    body = b""
    async with client, client.stream("GET", f"{provider.base_url.rstrip('/')}/models") as response:
        if response.status_code == _GOOD:
            async for part in response.aiter_raw():
                body += part
                if len(body) >= limit:
                    break
        return response.status_code, body[:limit]


def _lists(body: bytes) -> bool:
    """Whether an answer is a list of models, or the beginning of a long one."""
    if len(body) >= READ_BYTES:
        return body.lstrip()[:1] in {b"{", b"["}
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return False
    found = next((data[name] for name in ("data", "models") if name in data), None) if isinstance(data, dict) else data
    return isinstance(found, list)


def _outcome(status: int, body: bytes, provider: Provider, where: str) -> tuple[str, str, str]:
    answered = f"answers {status}"
    if status == _GOOD:
        if _lists(body):
            return "lists its models", "", ""
        what = _PAGE if web_pages.is_page(body) else _NO_LIST
        return f"{what}: is /v1 missing? See {where}", "", f"Look at {where}: {provider.base_url}."
    if status in _REFUSALS:
        return answered, f"{_REFUSALS[status]} ({status})", f"See {where}."
    if status in _KEYS:
        variable = provider.api_key_env
        hint = f"Check the key in {variable}." if variable else "Name the variable with the key: api_key_env."
        return answered, f"the endpoint {_KEYS[status]} ({status})", hint
    if status == _PAID:
        return answered, "the endpoint wants to be paid (402)", "Check the account at the provider."
    if status in _NOT_HERE:
        lacking = status == _NOT_FOUND and web_pages.lacks_version(provider.base_url)
        doubt = f"Is /v1 missing? Look at {where}: {provider.base_url}." if lacking else ""
        return f"answers, and lists no models ({status})", "", doubt
    if status in _REDIRECTS:
        return answered, f"the endpoint redirects elsewhere ({status})", f"Name the address itself: {where}."
    if status == _BUSY:
        return "answers that it is busy (429)", "", ""
    if status >= _SERVER_ERRORS:
        return answered, f"the endpoint is not well: it answers {status}", f"Try again later, or see {where}."
    return answered, "", ""
