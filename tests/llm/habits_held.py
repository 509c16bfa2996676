"""What holds when an endpoint has a habit (`swarmgate.testing.habits`), by its name.

`Same`: two turns read as they do without the habit, nothing lost and nothing doubled. `Fails`: the call fails, and says
what the pattern says, with a hint that says what its pattern says. `Again`: the first reply calls nothing, so that the
turn asks again, and the second ends it.
"""

from __future__ import annotations

from typing import NamedTuple


class Same(NamedTuple):
    """The answers are read as if there were no such habit; `how` completes the sentence in the docs."""

    how: str = "read the same"
    retries: int = 0
    waits: str = ""
    text: bool = True
    usage: bool = True


class Fails(NamedTuple):
    """The call fails with a message, and a hint, that fit these patterns."""

    how: str
    says: str
    hint: str = ""
    retries: int = 0


class Again(NamedTuple):
    """The first reply is no use; its `finish_reason` fits the pattern."""

    how: str
    reason: str = ""


Outcome = Same | Fails | Again

_SPELLED = Same("read as calls, on record as repaired", text=False)
_LEFT_OUT = Same("left out from then on, remembered for the model")
_TEXT_MODE = Same("calls go on as JSON in text, said once, remembered", text=False)
_CUT = Same("cut before anything is read")
_ONCE = Same("tried again", retries=1, usage=False)

HELD: dict[str, Outcome] = {
    # answers
    "text-in-parts": Same(),
    "null-fields": Same(),
    "finish-reason-missing": Same(),
    "finish-reason-stop-with-calls": Same(),
    "finish-reason-eos": Same(),
    "empty-answer": _ONCE,
    "content-filter": Fails("fails and says so", "content_filter|withheld"),
    "refusal-field": Again("nothing is called; the turn asks again"),
    "repeats-without-end": Again("cut while it streams, and counted", "too_long|length|repeat"),
    "cut-off-by-length": Again("nothing of it is carried out; shorter ones are asked for", "length"),
    "lone-surrogate": Same("U+FFFD stands for the half, and is on record", text=False),
    # reasoning
    "think-tags": _CUT,
    "think-closing-only": _CUT,
    "think-unclosed": Again("nothing of it is read; asked again", "length"),
    "think-thought-tags": _CUT,
    "think-thinking-tags": _CUT,
    "think-square-brackets": _CUT,
    "think-seed-tags": _CUT,
    "think-cohere-marks": _CUT,
    "reasoning-content-field": Same("never read as words of the model"),
    "reasoning-field": Same("never read as words of the model"),
    "thinking-in-parts": Same("never read as words of the model"),
    "deepseek-reasoning-must-return": Same("sent back as it came"),
    "reasoning-must-not-return": Same("sent back once, then left out", usage=False),
    "openrouter-reasoning-details-must-return": Same("sent back as they came"),
    "gemini-signature-must-return": Same("sent back as it came"),
    "harmony-channels": _CUT,
    "harmony-channels-bare": Same("no call is read out of it", text=False),
    # tool calls
    "call-ids-missing": Same("own ids"),
    "call-ids-empty": Same("own ids"),
    "call-ids-twice": Same("own ids"),
    "call-ids-of-nine": Same("ids go back as they came"),
    "call-index-always-0": Same(),
    "call-index-missing": Same(),
    "call-index-from-1": Same(),
    "call-arguments-object": Same(),
    "call-arguments-empty": Same(),
    "call-arguments-null": Same(),
    "call-arguments-none": Same(),
    "call-arguments-encoded-twice": Same(),
    "call-arguments-must-be-json": Same("what is malformed goes back as a JSON object"),
    "call-name-in-every-chunk": Same(),
    "call-name-in-pieces": Same(),
    "call-id-empty-later": Same(),
    "calls-at-once": Same(),
    "call-name-with-namespace": Same(),
    "call-name-with-channel": Same(),
    "function-call-legacy": Same("read as a call"),
    "calls-must-be-answered": Same(),
    "call-generation-failed": _ONCE,
    "calls-hermes": _SPELLED,
    "calls-qwen3-coder": _SPELLED,
    "calls-qwen3-coder-unclosed": Again("not read: where it ends cannot be told; asked again"),
    "calls-glm": _SPELLED,
    "calls-invoke": _SPELLED,
    "calls-dsml": _SPELLED,
    "calls-llama": _SPELLED,
    "calls-python-tag": _SPELLED,
    "calls-pythonic": _SPELLED,
    "calls-python-in-tags": _SPELLED,
    "calls-mistral": _SPELLED,
    "calls-mistral-named": _SPELLED,
    "calls-deepseek": _SPELLED,
    "calls-kimi": _SPELLED,
    "calls-granite": _SPELLED,
    "calls-lm-studio": _SPELLED,
    "calls-functools": _SPELLED,
    "calls-fenced": _SPELLED,
    "calls-namespaced": _SPELLED,
    "calls-trailing-commas": _SPELLED,
    "calls-single-quotes": _SPELLED,
    "tools-dropped-in-silence": Again("said once; calls go on as JSON in text, remembered"),
    # streaming
    "stream-without-done": Same(),
    "stream-held-open": Same(),
    "stream-data-without-space": Same(),
    "stream-crlf": Same(),
    "stream-comments": Same(),
    "stream-comments-as-data": Same(),
    "stream-event-fields": Same(),
    "stream-filter-chunks": Same(),
    "stream-byte-order-mark": Same(),
    "stream-asked-json-given": Same(),
    "json-asked-stream-given": Same(),
    "stream-arguments-buffered": Same("waited for"),
    "stream-first-token-late": Same("waited for"),
    "answer-late": Same("waited for"),
    "stream-late-with-comments": Same("waited for"),
    "stream-cut-off": _ONCE,
    "stream-ends-early": _ONCE,
    "stream-error-inside": _ONCE,
    "stream-error-event": _ONCE,
    # usage
    "usage-in-every-chunk": Same("the last counts stand"),
    "usage-with-the-end": Same(),
    "usage-missing": Same("estimated: a token per 4 characters", usage=False),
    "usage-elsewhere": Same("estimated: a token per 4 characters", usage=False),
    "usage-null": Same(),
    # refusals
    "temperature-refused": _LEFT_OUT,
    "system-refused-template": Same("part of the first user message from then on, remembered"),
    "system-refused-developer": Same("part of the first user message from then on, remembered"),
    "system-refused-value": Same("part of the first user message from then on, remembered"),
    "stream-options-refused": Same("left out from then on, remembered; counts are estimated", usage=False),
    "stream-options-refused-detail": Same("left out from then on, remembered; counts are estimated", usage=False),
    "stream-refused": Same("asked for whole answers from then on, remembered"),
    "parallel-tool-calls-refused": Same("never sent, or left out"),
    "tool-choice-refused": Same("never sent, or left out"),
    "response-format-refused": _LEFT_OUT,
    "max-tokens-refused": Same("sent as `max_completion_tokens` from then on, remembered"),
    "tools-refused-model": _TEXT_MODE,
    "tools-refused-flag": _TEXT_MODE,
    "tools-refused-parameter": _TEXT_MODE,
    "tools-refused-parser": _TEXT_MODE,
    "tools-refused-routing": _TEXT_MODE,
    "content-null-refused": Same("empty text from then on, remembered"),
    "content-empty-refused": Same("never sent empty"),
    "roles-must-alternate": Same("user and assistant take turns"),
    "schema-keyword-refused": Same("left out of the schemas from then on, remembered"),
    # errors
    "page-with-200": Fails("fails and says that a page came", "page|HTML", "base_url"),
    "page-with-502": Same("tried again; the page itself is not shown", retries=1, usage=False),
    "timeout-524": _ONCE,
    "error-with-200": Fails("fails with what the endpoint says", "requires moderation"),
    "error-as-detail": Fails("fails with what the endpoint says", "403.*The model is not allowed for this key", "key"),
    "error-as-text": Fails("fails with what the endpoint says", "424.*process has terminated"),
    "error-flat": Fails("fails with what the endpoint says", "400.*maximum batch is 4"),
    "error-in-list": Fails("fails with what the endpoint says", "400: API key not valid"),
    "error-without-body": Fails("fails with the status", "answered 400"),
    "error-overloaded": _ONCE,
    "error-loading": Same("tried again", retries=2, usage=False),
    "error-context-exceeded": Fails("fails and names both numbers", "too long.*4390.*4096", "context|window"),
    "error-no-such-model": Fails("fails and names model and address", "404.*not found", "model name `m`.*127.0.0.1"),
    "error-no-money": Fails("fails and names the account", "402.*Insufficient Balance", "account"),
    "models-not-listed": Same("the window stays unknown"),
    # limits
    "limit-retry-after": Same("waits as long", retries=0, waits="2[0-5]", usage=False),
    "limit-retry-after-date": Same("waits as long", retries=0, waits="1[5-9]|2[0-5]", usage=False),
    "limit-retry-after-ms": Same("waits as long", retries=0, waits="2[0-5]", usage=False),
    "limit-reset-minutes": Same("waits as long", retries=0, waits="36[0-9]", usage=False),
    "limit-reset-fractions": Same("waits as long", retries=1, waits="[1-6]", usage=False),
    "limit-reset-epoch": Same("waits as long", retries=0, waits="1[5-9]|2[0-5]", usage=False),
    "limit-in-message": Same("waits as long", retries=0, waits="6[0-5]", usage=False),
    "limit-resets-at": Same("waits as long", retries=0, waits="1[5-9]|2[0-5]", usage=False),
    "limit-quota": Fails("fails at once", "exceeded your current quota", "account"),
    # transport
    "gzip": Same(),
    "characters-cut": Same(text=False),
    "blank-lines-first": Same(),
    "connection-dies": Same("opened anew at once; no try is counted"),
}
