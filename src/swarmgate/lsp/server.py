"""The server of the Language Server Protocol over the gates and the record of one repository."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from swarmgate import __version__
from swarmgate.domain.text.cleaning import plain
from swarmgate.errors import SwarmError
from swarmgate.gates.verbs import explain
from swarmgate.gates.verbs.unsaved import Unsaved
from swarmgate.lsp import tasks
from swarmgate.lsp.diagnostics import diagnostics
from swarmgate.project import Project

T = TypeVar("T")

_PAUSE_S = 0.4
"""Seconds after the last key until a text is judged."""
_LONGEST = 1_000_000
"""Characters of a text that is judged while it is typed."""
_PLAN = (".swarm", "plan.md")


class Desk:
    """One editor's texts. Belongs to one event loop; gates work in a thread, one text at a time.

    Args:
        server: of the protocol.
        start: a folder in the repository.
    """

    def __init__(self, server: LanguageServer, start: Path) -> None:
        self._server, self._start = server, start
        self._unsaved: Unsaved | None = None
        self._turn = asyncio.Lock()
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._found: dict[str, list[types.Diagnostic]] = {}

    # --- texts ---

    def changed(self, uri: str) -> None:
        """Has a text judged a moment after its last change."""
        if (before := self._waiting.pop(uri, None)) is not None:
            before.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._judge_later(uri))

    def closed(self, uri: str) -> None:
        """Forgets a text."""
        if (before := self._waiting.pop(uri, None)) is not None:
            before.cancel()
        self._tell(uri, [], None)

    def end(self) -> None:
        """Ends what is at work, and removes the copy of the work tree."""
        for each in self._waiting.values():
            each.cancel()
        if self._unsaved is not None:
            self._unsaved.close()

    # --- what is asked ---

    async def hover(self, uri: str, place: types.Position) -> types.Hover | None:
        """What the rules of the findings at a place mean; None: there are none."""
        rules = {
            str(each.code): each.range
            for each in self._found.get(uri, ())
            if each.range.start.line <= place.line <= each.range.end.line
        }
        texts = []
        for rule in rules:
            try:
                texts.append("\n".join(explain.lines(await asyncio.to_thread(explain.explain, self._start, rule))))
            except SwarmError as error:
                texts.append(plain(error.message))
        if not texts:
            return None
        value = "\n\n".join(f"```text\n{plain(text)}\n```" for text in texts)
        return types.Hover(contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=value))

    async def actions(self, uri: str) -> list[types.CodeAction]:
        """What is safe to mend in a text, as one edit of it; nothing where nothing is."""
        document, path = self._server.workspace.get_text_document(uri), self._path(uri)
        if path is None or not self._found.get(uri):
            return []
        source = document.source
        fixed = await self._with_gates(lambda unsaved, texts: unsaved.fixed(path, texts))
        if fixed is None or fixed == source:
            return []
        lines = source.splitlines(keepends=True)
        whole = types.Range(start=types.Position(0, 0), end=types.Position(len(lines) + 1, 0))
        edit = types.WorkspaceEdit(changes={uri: [types.TextEdit(range=whole, new_text=fixed)]})
        title = "swarmgate: mend what is safe to mend in this file"
        return [types.CodeAction(title=title, kind=types.CodeActionKind.SourceFixAll, edit=edit)]

    async def lenses(self, uri: str) -> list[types.CodeLens]:
        """The lines above the tasks of plan.md; nothing for other files."""
        place = _place(uri)
        if place is None or place.parts[-2:] != _PLAN:
            return []
        try:
            state = await asyncio.to_thread(lambda: Project(place.parent.parent).state)
        except SwarmError:
            return []
        return tasks.lenses(self._server.workspace.get_text_document(uri).source, state)

    async def act(self, command: str, task: str) -> None:
        """Does what a line offers, and shows what came of it."""
        try:
            said = await asyncio.to_thread(tasks.told, self._start, command, task)
            kind = types.MessageType.Info
        except SwarmError as error:
            said, kind = f"{error.message} {error.hint}".strip(), types.MessageType.Error
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=plain(said)))

    # --- inside ---

    async def _judge_later(self, uri: str) -> None:
        await asyncio.sleep(_PAUSE_S)
        document, path = self._server.workspace.get_text_document(uri), self._path(uri)
        if path is None or len(document.source) > _LONGEST:
            return
        version = document.version
        report = await self._with_gates(lambda unsaved, texts: unsaved.judge(path, texts))
        if report is not None and document.version == version:
            self._tell(uri, diagnostics(report, path, document.lines), version)

    async def _with_gates(self, work: Callable[[Unsaved, dict[str, str]], T]) -> T | None:
        """What gates give of the texts as they are now; None where they cannot, which the editor's log says."""
        async with self._turn:
            documents: list[TextDocument] = list(self._server.workspace.text_documents.values())
            texts = {path: each.source for each in documents if (path := self._path(each.uri)) is not None}
            try:
                if self._unsaved is None:
                    self._unsaved = await asyncio.to_thread(Unsaved, self._start)
                return await asyncio.to_thread(work, self._unsaved, texts)
            except SwarmError as error:
                said = plain(f"{error.message} {error.hint}".strip())
                self._server.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=said))
                return None

    def _path(self, uri: str) -> str | None:
        """The path of a file in the repository, from its root; None: it is none that gates judge."""
        place = _place(uri)
        root = (
            self._unsaved.home.root
            if self._unsaved
            else next((each for each in (self._start, *self._start.parents) if (each / ".git").exists()), self._start)
        )
        if place is None or not place.is_relative_to(root):
            return None
        path = place.relative_to(root)
        return None if not path.parts or path.parts[0] in {".git", ".swarm"} else path.as_posix()

    def _tell(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self._found[uri] = found
        told = types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        self._server.text_document_publish_diagnostics(told)


def _place(uri: str) -> Path | None:
    """The file of an address; None: it is none of this machine's."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    try:
        return Path(url2pathname(parts.path)).resolve()
    except (OSError, ValueError):
        return None


def server_of(start: Path) -> LanguageServer:
    """The server, ready to be started.

    Args:
        start: a folder in the repository.
    """
    server = LanguageServer("swarmgate", __version__)
    desks: list[Desk] = []

    def desk() -> Desk:
        """The desk, made in the loop that it belongs to."""
        if not desks:
            desks.append(Desk(server, start))
        return desks[0]

    _hear(server, desk)
    _answer(server, desk)
    for name in tasks.COMMANDS:
        _offer(server, desk, name)
    return server


def _hear(server: LanguageServer, desk: Callable[[], Desk]) -> None:
    """What is told of texts."""

    async def changed(asked: Any) -> None:
        desk().changed(asked.text_document.uri)

    for name in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_SAVE):
        server.feature(name)(changed)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(asked: types.DidCloseTextDocumentParams) -> None:
        desk().closed(asked.text_document.uri)

    @server.feature(types.SHUTDOWN)
    async def ends(_: None) -> None:
        desk().end()


def _answer(server: LanguageServer, desk: Callable[[], Desk]) -> None:
    """What is asked about them."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(asked: types.HoverParams) -> types.Hover | None:
        return await desk().hover(asked.text_document.uri, asked.position)

    mends = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.SourceFixAll])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, mends)
    async def actions(asked: types.CodeActionParams) -> list[types.CodeAction]:
        return await desk().actions(asked.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(asked: types.CodeLensParams) -> list[types.CodeLens]:
        return await desk().lenses(asked.text_document.uri)


def _offer(server: LanguageServer, desk: Callable[[], Desk], name: str) -> None:
    @server.command(name)
    async def called(*given: object) -> None:
        await desk().act(name, next((each for each in given if isinstance(each, str)), ""))
