"""Reads the size of a model's context window from what its endpoint states.

What counts is the window that is served now, not the one that the model was trained for: Ollama and LM Studio cut a
conversation at the former without a word. Sources: vLLM `/v1/models` `max_model_len`; OpenRouter `context_length`; Groq
`context_window`; Ollama `/api/ps` `context_length`, `/api/show` `num_ctx`; LM Studio `/api/v1/models` and
`/api/v0/models`; llama.cpp `/props`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

_KEYS = ("max_model_len", "context_length", "context_window", "loaded_context_length", "max_context_length")


class Fetch(Protocol):
    """Gets JSON from an endpoint, None when there is none."""

    async def __call__(self, url: str, *, body: dict[str, Any] | None = None) -> Any:
        """GET, or POST of a body."""


async def context_tokens(fetch: Fetch, base_url: str, served: str) -> int | None:
    """The window of the model `served` in tokens; None when the endpoint does not state it."""
    if size := in_models(await fetch("/models"), served):
        return size
    if not base_url.endswith("/v1"):
        return None
    root = base_url.removesuffix("/v1")
    running = await fetch(f"{root}/api/ps")
    if isinstance(running, dict) and "models" in running:  # Ollama; nothing below is served there
        return in_running(running, served) or in_show(await fetch(f"{root}/api/show", body={"model": served}))
    for path in ("/api/v1/models", "/api/v0/models"):
        if size := in_lm_studio(await fetch(root + path), served):
            return size
    return in_props(await fetch(f"{root}/props"))


def in_models(data: Any, served: str) -> int | None:
    """vLLM, OpenRouter, Groq and others: in the entry of the model in the list of models."""
    return next(
        (size for entry in _entries(data, "data", served) for key in _KEYS if (size := _size(entry, key))), None
    )


def in_running(data: Any, served: str) -> int | None:
    """Ollama's list of loaded models: what was really allocated."""
    return next((size for entry in _entries(data, "models", served) if (size := _size(entry, "context_length"))), None)


def in_show(data: Any) -> int | None:
    """Ollama's parameters of a model: `num_ctx` where its Modelfile sets it."""
    parameters = data.get("parameters") if isinstance(data, dict) else None
    match = re.search(r"^num_ctx\s+(\d{1,9})\s*$", parameters, re.MULTILINE) if isinstance(parameters, str) else None
    return int(match[1]) if match else None


def in_lm_studio(data: Any, served: str) -> int | None:
    """LM Studio's own lists: the window that the model was loaded with."""
    for entry in (*_entries(data, "models", served), *_entries(data, "data", served)):
        loaded = entry.get("loaded_instances")
        for instance in loaded if isinstance(loaded, list) else ():
            config = instance.get("config") if isinstance(instance, dict) else None
            if isinstance(config, dict) and (size := _size(config, "context_length")):
                return size
        if size := _size(entry, "loaded_context_length"):
            return size
    return None


def in_props(data: Any) -> int | None:
    """llama.cpp's properties of the server: the window of one slot."""
    settings = data.get("default_generation_settings") if isinstance(data, dict) else None
    return _size(settings, "n_ctx") if isinstance(settings, dict) else None


def _entries(data: Any, key: str, served: str) -> Iterator[dict[str, Any]]:
    """The entries of a list that are the model."""
    entries = data.get(key) if isinstance(data, dict) else None
    names = {served, f"{served}:latest"}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and names & {entry.get(field) for field in ("id", "name", "model", "key")}:
            yield entry


def _size(entry: dict[str, Any], key: str) -> int | None:
    value = entry.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
