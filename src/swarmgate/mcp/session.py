"""The server of the protocol: tools, resources and prompts, over whatever stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import McpError

from mcp import types
from swarmgate import __version__
from swarmgate.domain.text.cleaning import plain
from swarmgate.errors import SwarmError, UsageError
from swarmgate.mcp import calls, prompts, resources
from swarmgate.mcp.backend import Backend, Document
from swarmgate.mcp.greeting import INSTRUCTIONS, NAME
from swarmgate.mcp.pages import Pages
from swarmgate.mcp.quoted import marked
from swarmgate.mcp.tools import TOOLS, Tool

Backends = Callable[[Any], Backend]
"""What stands behind a request: it gets that of the web server, or None where there is none."""

_NOT_FOUND = -32002
"""The protocol's code of a resource that is not there."""


def server_of(backends: Backends, table: Mapping[str, Tool] = TOOLS) -> Server:
    """The server, ready to be run over a pair of streams.

    Args:
        backends: what stands behind each request.
        table: of the tools.
    """
    server: Server = Server(NAME, version=__version__, instructions=INSTRUCTIONS)
    session = _Session(server, backends, table)
    server.request_handlers |= {
        types.ListToolsRequest: session.list_tools,
        types.CallToolRequest: session.call_tool,
        types.ListResourcesRequest: session.list_resources,
        types.ListResourceTemplatesRequest: session.list_templates,
        types.ReadResourceRequest: session.read_resource,
        types.ListPromptsRequest: session.list_prompts,
        types.GetPromptRequest: session.get_prompt,
    }
    return server


class _Session:
    """The handlers of the requests."""

    def __init__(self, server: Server, backends: Backends, table: Mapping[str, Tool]) -> None:
        self._server, self._backends, self._table, self._pages = server, backends, table, Pages()

    async def list_tools(self, asked: types.ListToolsRequest) -> types.ServerResult:
        """All tools, on one page."""
        del asked
        return types.ServerResult(types.ListToolsResult(tools=[_tool(each) for each in self._table.values()]))

    async def call_tool(self, asked: types.CallToolRequest) -> types.ServerResult:
        """What a tool answers; an error of it is an answer."""
        given = asked.params.arguments or {}
        return types.ServerResult(
            await calls.answer(
                self._table, asked.params.name, given, self._backend(), self._pages, self._server.request_context
            )
        )

    async def list_resources(self, asked: types.ListResourcesRequest) -> types.ServerResult:
        """The plan; the others have forms of addresses."""
        del asked
        listed = types.Resource(
            uri=resources.PLAN,
            name="plan",
            description="The plan, as plan.md has it.",
            mimeType="text/markdown",
        )
        return types.ServerResult(types.ListResourcesResult(resources=[listed]))

    async def list_templates(self, asked: types.ListResourceTemplatesRequest) -> types.ServerResult:
        """The forms of addresses."""
        del asked
        listed = [
            types.ResourceTemplate(
                uriTemplate=each.address, name=each.name, description=each.description, mimeType=each.media_type
            )
            for each in resources.TEMPLATES
        ]
        return types.ServerResult(types.ListResourceTemplatesResult(resourceTemplates=listed))

    async def read_resource(self, asked: types.ReadResourceRequest) -> types.ServerResult:
        """A text at an address, marked as data."""
        found = await self._read(lambda backend: resources.read(backend, str(asked.params.uri)), _NOT_FOUND)
        content = types.TextResourceContents(uri=asked.params.uri, mimeType=found.media_type, text=marked(found))
        return types.ServerResult(types.ReadResourceResult(contents=[content]))

    async def list_prompts(self, asked: types.ListPromptsRequest) -> types.ServerResult:
        """All prompts."""
        del asked
        listed = [
            types.Prompt(
                name=each.name,
                title=each.title,
                description=each.description,
                arguments=[
                    types.PromptArgument(name=name, description=text, required=needed)
                    for name, text, needed in each.arguments
                ],
            )
            for each in prompts.PROMPTS.values()
        ]
        return types.ServerResult(types.ListPromptsResult(prompts=listed))

    async def get_prompt(self, asked: types.GetPromptRequest) -> types.ServerResult:
        """A prompt, filled in."""
        name, given = asked.params.name, asked.params.arguments or {}
        found = await self._read(lambda backend: prompts.filled(backend, name, given), types.INVALID_PARAMS)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=found.text))
        description = prompts.PROMPTS[name].description
        return types.ServerResult(types.GetPromptResult(description=description, messages=[message]))

    # --- inside ---

    def _backend(self) -> Backend:
        return self._backends(self._server.request_context.request)

    async def _read(self, reading: Callable[[Backend], Any], code: int) -> Document:
        """A text without secrets, marked as data; an error of ours is one of the protocol, with that code."""
        clean: calls.Clean = plain
        try:
            backend = self._backend()
            clean = backend.cleaner()
            found: Document = await calls.whole(reading(backend))
            return found._replace(text=clean(found.text))
        except SwarmError as error:
            told = clean(" ".join(filter(None, (error.message, error.hint))))
            code = code if isinstance(error, UsageError) else types.INTERNAL_ERROR
            raise McpError(types.ErrorData(code=code, message=told)) from None


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        inputSchema=tool.input_schema,
        outputSchema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            readOnlyHint=not tool.changes,
            destructiveHint=False,
            idempotentHint=not tool.changes,
            openWorldHint=tool.asks_models,
        ),
    )
