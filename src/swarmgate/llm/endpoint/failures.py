"""Classifies a failed model call: what happened, at which endpoint, whether to retry, and what to check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from swarmgate.config import Provider
from swarmgate.domain.text.redaction import redact
from swarmgate.llm.endpoint import refusals, web_pages
from swarmgate.llm.endpoint.assembly import NoAnswer, Refused
from swarmgate.llm.limit_resets import of_answer, of_stream
from swarmgate.llm.model import CallFailed

_RETRIED = {408, 409, 425, 429, 499}
_ELSEWHERE = {405, 406, 415, 418}
"""What a server says that something else is served at."""
_MODEL = re.compile(
    r"not a valid model|(no such|unknown|invalid) model|model.{0,60}(not found|not exist)", re.IGNORECASE
)
_CONTEXT = re.compile(
    r"context.{0,20}(length|window|size)|(exceeds?|longer than) (the |this )?model('s)? context|maximum context"
    r"|prompt is too long|too many (input )?tokens",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FailureFactory:
    """Builds the failures of one model, `provider/model`; `key` is redacted from their messages."""

    name: str
    provider: Provider
    key: str = ""

    def failure(self, message: str, *, hint: str = "", retriable: bool = False, **more: Any) -> CallFailed:
        """Builds a failure with this message."""
        return CallFailed(f"{self.name}: {redact(message, (self.key,))}", hint=hint, retriable=retriable, **more)

    def out_of_time(self, missed: str) -> CallFailed:
        """Builds the failure of a time limit; `missed` says which."""
        where = f"[providers.{self.name.partition('/')[0]}] or the role"
        return self.failure(missed, hint=f"raise it in {where}, if the model is only slow", retriable=True)

    def no_answer(self, error: NoAnswer) -> CallFailed:
        """What the endpoint sent is no answer of a model."""
        value = web_pages.loaded(error.head)
        url = self.provider.base_url
        if isinstance(value, dict):
            found = web_pages.other(value, url)
        else:
            found = (
                web_pages.page(error.head, url) if web_pages.is_page(error.head) else web_pages.words(error.head, url)
            )
        return self.failure(f"the endpoint sent {found.what}", hint=found.hint, retriable=found.passing)

    def no_connection(self, error: Exception) -> CallFailed:
        """Builds the failure of a connection."""
        cause = error if error.__cause__ is None else error.__cause__
        url, why = self.provider.base_url, str(cause) or type(cause).__name__
        hint = f"is the endpoint running? [providers] base_url says {url}"
        return self.failure(f"the connection failed: {url}: {why}", hint=hint, retriable=True)

    def reported(self, error: Refused) -> CallFailed:
        """What an answer with status 200 says that is an error."""
        now = datetime.now(UTC)
        limit = of_answer(error.status, {}, str(error), now=now) if error.status else of_stream(str(error), now=now)
        return self.failure(f"the endpoint reported an error: {error}", retriable=True, limit=limit)

    def refused(self, status: int, headers: Mapping[str, str], body: str, what: refusals.Complaint) -> CallFailed:
        """Builds the failure for an HTTP status, with a hint."""
        found = web_pages.page(body.encode(), self.provider.base_url) if web_pages.is_page(body.encode()) else None
        complaint = found.what if found else what.summary
        if status == 413 and found:  # noqa: PLR2004 - Content Too Large
            hint = "the request is too large for a proxy on the way: raise its limit (nginx: client_max_body_size)"
            return self.failure(f"the endpoint answered {status}: {complaint}", hint=hint)
        if status == 413 or (status in {400, 422, 500} and _CONTEXT.search(complaint)):  # noqa: PLR2004 - Content Too Large
            hint = "use a model with a larger context for this role, or split the task"
            return self.failure(f"the conversation is too long for the model ({status}: {complaint})", hint=hint)
        limit = of_answer(status, headers, body, now=datetime.now(UTC))
        quota = limit is not None and limit.ends is None
        final = quota or headers.get("x-should-retry") == "false"  # OpenAI's own way to say so
        passing = status in _RETRIED or status >= 500 or limit is not None  # noqa: PLR2004 - server errors
        retriable = (passing or refusals.is_misleading(what)) and not final
        hint = "check the account at the provider" if quota else self._hint(status, complaint)
        if limit is not None and not quota:
            hint = ""
        return self.failure(f"the endpoint answered {status}: {complaint}", hint=hint, retriable=retriable, limit=limit)

    def _hint(self, status: int, complaint: str) -> str:
        key, url = self.provider.api_key_env, self.provider.base_url
        address = f"{web_pages.where(url)}; {status} mostly means another address or way than this one"
        if status < 400 or status in _ELSEWHERE:  # noqa: PLR2004 - redirects
            return address
        if status < 500 and _MODEL.search(complaint):  # noqa: PLR2004 - server errors
            status = 404
        model = f"check the model name `{self.name.partition('/')[2]}`"
        missing = f"is /v1 missing? base_url says {url}: try {url.rstrip('/')}/v1; if that is right, {model}"
        hints = {
            401: f"check the key in {key}" if key else "name the variable with the key: [providers] api_key_env",
            403: f"check what the key in {key or '[providers] api_key_env'} may use",
            407: "the proxy of this machine wants a login: HTTPS_PROXY holds it as http://USER:PASSWORD@HOST:PORT",
            451: "the provider may not serve you here: take another one",
            404: missing if web_pages.lacks_version(url) else f"{model} and base_url {url}",
        }
        return hints.get(status, "")
