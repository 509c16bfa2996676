"""Does one call of a tool: arguments in, progress on the way, a page of the result or an error out."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import anyio
from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from pydantic import ValidationError

from mcp import types
from swarmgate.domain.progress import Listener, Progress
from swarmgate.domain.text.cleaning import cleaned, plain
from swarmgate.errors import SwarmError, UsageError
from swarmgate.mcp.backend import Ask, Backend, Call
from swarmgate.mcp.pages import Page, Pages
from swarmgate.mcp.tools import Tool

T = TypeVar("T")
Clean = Callable[[str], str]
Context = RequestContext[ServerSession, Any, Any]

_PAUSE_S = 0.1
"""Seconds between two notifications of progress: what happens meanwhile is told by the newest alone."""
_LONGEST = 300
"""Characters of a notification."""
_PROBLEMS = 5
"""As many wrong arguments are named at most."""


async def answer(
    table: Mapping[str, Tool],
    name: str,
    given: Mapping[str, Any],
    backend: Backend,
    pages: Pages,
    context: Context,
) -> types.CallToolResult:
    """The answer of a tool; what goes wrong is an answer, too, that says what to do.

    Args:
        table: of the tools.
        name: of the tool.
        given: its arguments as they came.
        backend: does it.
        pages: of the session.
        context: of the request.
    """
    clean: Clean = plain
    try:
        tool = table.get(name)
        if tool is None:
            raise UsageError(f"There is no tool {name[:80]!r}.", hint=f"There are: {', '.join(table)}.")
        asked = arguments_of(tool, given)
        clean = backend.cleaner()
        if cursor := getattr(asked, "after", ""):
            return _told(tool, pages.after(name, cursor, tool.listed))
        async with _telling(context, clean) as listener:
            found = await whole(backend.call(name, asked, Call(listener, _asking(context, clean))))
        return _told(tool, pages.first(name, cleaned(found.model_dump(mode="json"), clean), tool.listed))
    except SwarmError as error:
        return refused(error, clean)
    except Exception as error:  # noqa: BLE001 - the boundary to the client: a bug is told without what it was about
        traceback.print_exc(file=sys.stderr)
        bug = SwarmError(f"a bug: {type(error).__name__}", hint="What happened stands on the server's stderr.")
        return refused(bug, clean)


def arguments_of(tool: Tool, given: Mapping[str, Any]) -> Any:
    """The arguments of a tool, checked.

    Raises:
        UsageError: they do not fit; the message names each and what is wrong, and repeats no value.
    """
    try:
        return tool.takes.model_validate(given)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))[:80]}: {each['msg']}" for each in error.errors(include_input=False)]
        more = f" and {len(found) - _PROBLEMS} more" if len(found) > _PROBLEMS else ""
        takes = ", ".join(tool.takes.model_fields)
        raise UsageError(
            f"{tool.name}: {'; '.join(found[:_PROBLEMS])}{more}", hint=f"It takes: {takes}." if takes else ""
        ) from None


async def whole(work: Coroutine[Any, Any, T]) -> T:
    """Does a work in a task of its own. When the call is cancelled, it is told once, and waited for until it has ended.

    The cancellation of anyio would interrupt each step with which it ends what it started.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # whatever it ended with: nobody waits for it any more
        raise


@asynccontextmanager
async def _telling(context: Context, clean: Clean) -> AsyncIterator[Listener]:
    """A listener whose news go to the client, the newest of each tenth of a second, if it asked for progress."""
    token = context.meta.progressToken if context.meta else None
    if token is None:
        yield lambda _: None
        return
    loop, news = asyncio.get_running_loop(), asyncio.Event()
    newest: list[tuple[int, str]] = [(0, "")]

    def heard(progress: Progress) -> None:
        newest[0] = (newest[0][0] + 1, _line(progress))
        loop.call_soon_threadsafe(news.set)

    async def tell() -> None:
        while True:
            await news.wait()
            news.clear()
            count, text = newest[0]
            message, request = clean(text)[:_LONGEST], str(context.request_id)
            await context.session.send_progress_notification(token, count, None, message, request)
            await asyncio.sleep(_PAUSE_S)

    teller = asyncio.ensure_future(tell())
    try:
        yield heard
    finally:
        teller.cancel()
        with suppress(asyncio.CancelledError, Exception), anyio.CancelScope(shield=True):
            await teller


def _line(progress: Progress) -> str:
    where = f"task {progress.task}: " if progress.task else ""
    return f"{where}{progress.text}"


def _asking(context: Context, clean: Clean) -> Ask | None:
    """Asks the person at the client; None where it has no forms."""
    capability = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    if not context.session.check_client_capability(capability):
        return None

    async def ask(message: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        filled = await context.session.elicit_form(
            clean(message), cleaned(dict(schema), clean), related_request_id=context.request_id
        )
        return filled.content if filled.action == "accept" else None

    return ask


def _told(tool: Tool, page: Page) -> types.CallToolResult:
    data = {"result": page.data, "next": page.next, "cut": tool.whole if page.cut else ""}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structuredContent=data)


def refused(error: SwarmError, clean: Clean) -> types.CallToolResult:
    """The answer that tells an error: its code, message and hint, and the exit code that the command would end with."""
    told = {
        "error": error.code,
        "message": clean(error.message)[:4_000],
        "hint": clean(error.hint)[:4_000],
        "exit_code": error.exit_code,
    }
    text = json.dumps(told, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], isError=True)
