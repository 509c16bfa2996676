"""Endpoint quirks: failures, and the unusual forms of their error responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmgate.testing.exchange import Exchange, Response, answered, refused
from swarmgate.testing.habits.habit import Habit

_PAGE = (
    b'<!DOCTYPE html>\n<html><head><title>Open WebUI</title></head><body><div id="app">'
    b"<script>window.config={};</script></div></body></html>\n"
)
_GATEWAY = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    b"<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n"
)


def _html(page: bytes, *, status: int = 200) -> Response:
    return Response(status, {"Content-Type": "text/html; charset=utf-8"}, (page,))


def _always(response: Response) -> Callable[[Exchange], Response | None]:
    return lambda _exchange: response


def _first(response: Response, *, times: int = 1) -> Callable[[Exchange], Response | None]:
    return lambda exchange: response if exchange.number <= times else None


def _habit(name: str, about: str, source: str, **stages: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="errors", **stages)


HABITS = (
    _habit(
        "page-with-200",
        "A web page comes with status 200: the address is not that of the API.",
        "One API behind NextChat: https://github.com/ChatGPTNextWeb/NextChat/issues/4761",
        refuse=_always(_html(_PAGE)),
    ),
    _habit(
        "page-with-502",
        "The first request is answered by the proxy's page with status 502.",
        "nginx in front of any server: https://nginx.org/en/docs/http/ngx_http_proxy_module.html",
        refuse=_first(_html(_GATEWAY, status=502)),
    ),
    _habit(
        "timeout-524",
        "The first request ends with status 524, and the reason in `detail`.",
        "New API behind Cloudflare: https://github.com/QuantumNous/new-api/issues/4972",
        refuse=_first(
            answered(
                {
                    "title": "Error 524: A timeout occurred",
                    "status": 524,
                    "detail": "The origin web server did not return a complete response within the 120-second Proxy "
                    "Read Timeout window.",
                },
                status=524,
            )
        ),
    ),
    _habit(
        "error-with-200",
        "An error comes with status 200.",
        "OpenRouter: https://github.com/nodetool-ai/nodetool/pull/5755",
        refuse=_always(
            answered({"error": {"code": 403, "message": "Your chosen model requires moderation and was flagged"}})
        ),
    ),
    _habit(
        "error-as-detail",
        "Errors are told in `detail`.",
        "Servers on FastAPI: https://github.com/CherryHQ/cherry-studio/issues/9214",
        refuse=_always(answered({"detail": "The model is not allowed for this key."}, status=403)),
    ),
    _habit(
        "error-as-text",
        "The value of `error` is a text.",
        "Ollama: https://github.com/continuedev/continue/issues/12713; "
        "TGI: https://huggingface.co/docs/text-generation-inference/reference/api_reference",
        refuse=_always(
            answered(
                {"error": "llama-server process has terminated: exit status 1", "error_type": "generation"}, status=424
            )
        ),
    ),
    _habit(
        "error-flat",
        "Errors have no key `error`: `message` and `code` stand alone.",
        "vLLM 0.5.3: https://github.com/vllm-project/vllm/issues/6862",
        refuse=_always(
            answered(
                {
                    "object": "error",
                    "message": "This model's maximum batch is 4.",
                    "type": "BadRequestError",
                    "code": 400,
                },
                status=400,
            )
        ),
    ),
    _habit(
        "error-in-list",
        "Errors stand in a list.",
        "Gemini's OpenAI endpoint: https://github.com/Alishahryar1/free-claude-code/issues/542",
        refuse=_always(
            answered(
                [
                    {
                        "error": {
                            "code": 400,
                            "message": "API key not valid. Please pass a valid API key.",
                            "status": "INVALID_ARGUMENT",
                        }
                    }
                ],
                status=400,
            )
        ),
    ),
    _habit(
        "error-without-body",
        "Status 400 comes without a body.",
        "Cerebras, as clients saw it: https://github.com/QwenLM/qwen-code/issues/11045",
        refuse=_always(Response(400, {}, ())),
    ),
    _habit(
        "error-overloaded",
        "The first request is answered with status 529.",
        "Anthropic: https://github.com/0ca/BoxPwnr/issues/69",
        refuse=_first(
            answered({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529)
        ),
    ),
    _habit(
        "error-loading",
        "The first two requests are answered with status 503: the model is being loaded.",
        "llama.cpp: https://github.com/mostlygeek/llama-swap/issues/146",
        refuse=_first(
            answered({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, status=503),
            times=2,
        ),
    ),
    _habit(
        "error-context-exceeded",
        "The conversation is too long for the window, with both numbers.",
        "llama.cpp 8064: https://github.com/ggml-org/llama.cpp/issues/19774",
        refuse=_always(
            answered(
                {
                    "error": {
                        "code": 400,
                        "message": "request (4390 tokens) exceeds the available context size (4096 tokens), try "
                        "increasing it",
                        "type": "exceed_context_size_error",
                        "n_prompt_tokens": 4390,
                        "n_ctx": 4096,
                    }
                },
                status=400,
            )
        ),
    ),
    _habit(
        "error-no-such-model",
        "There is no model of that name.",
        "Ollama, OpenAI compatibility: https://github.com/ollama/ollama/blob/main/docs/openai.md",
        refuse=_always(refused(404, 'model "m" not found, try pulling it first', type="api_error")),
    ),
    _habit(
        "error-no-money",
        "Status 402: the balance is used up.",
        "DeepSeek, error codes: https://api-docs.deepseek.com/quick_start/error_codes",
        refuse=_always(refused(402, "Insufficient Balance", type="unknown_error")),
    ),
    _habit(
        "models-not-listed",
        "There is no `/v1/models`.",
        "MiniMax: https://github.com/MiniMax-AI/MiniMax-M2.5/issues/19",
        models=Response(404, {"Content-Type": "text/plain"}, (b"404 page not found",)),
    ),
)
