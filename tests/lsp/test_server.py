"""`swarm lsp` by a real client, over the streams of a process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client
from tests.project import GOAL, Project, _after, _template, once, project

from swarmgate.engine import Swarm
from swarmgate.lsp.diagnostics import diagnostics
from swarmgate.lsp.tasks import lenses, told

__all__ = ["_after", "_template", "once", "project"]

pytestmark = pytest.mark.suite("unittest")


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[LanguageClient]:
    client = make_test_lsp_client()
    await client.start_io(sys.executable, "-m", "swarmgate", "lsp", cwd=folder, env=dict(os.environ))
    asked = types.InitializeParams(capabilities=client_capabilities("neovim"), root_uri=folder.as_uri())
    await client.initialize_session(asked)
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]  # of pytest-lsp


async def _until(
    client: LanguageClient, uri: str, fits: Callable[[list[types.Diagnostic]], bool]
) -> list[types.Diagnostic]:
    async with asyncio.timeout(90):
        while uri not in client.diagnostics or not fits(list(client.diagnostics[uri])):
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


@pytest.mark.slow
async def test_a_text_that_is_not_saved_is_judged_explained_and_mended(repo: Path) -> None:
    place, saved = repo / "src/app.py", (repo / "src/app.py").read_text()
    uri = place.as_uri()
    async with editor(repo) as client:
        item = types.TextDocumentItem(
            uri=uri, language_id="python", version=1, text="import os\n\n\ndef one():\n    return   1\n"
        )
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        found = await _until(client, uri, bool)
        assert "F401" in [each.code for each in found]
        document = types.TextDocumentIdentifier(uri=uri)
        hover = await client.text_document_hover_async(
            types.HoverParams(text_document=document, position=types.Position(0, 8))
        )
        assert hover
        assert "F401" in str(hover.contents)
        actions = await client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=document, range=found[0].range, context=types.CodeActionContext(diagnostics=found)
            )
        )
        assert actions
        edit = actions[0].edit  # type: ignore[union-attr]  # no command
        assert edit
        assert edit.changes
        assert edit.changes[uri][0].new_text.endswith("    return 1\n")
        assert place.read_text() == saved
        change = types.TextDocumentContentChangeWholeDocument(text=saved)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=2), content_changes=[change]
            )
        )
        await _until(client, uri, lambda now: not now)


async def test_the_tasks_of_a_plan_say_where_they_stand_and_what_can_be_done(project: Project) -> None:
    project.play()
    await Swarm(project.root).plan(GOAL)
    found = lenses(project.plan_md, project.state)
    commands = [each.command for each in found]
    assert [each.title for each in commands if each] == ["swarm status", "pending: show"]
    assert "Part 1.1" in told(project.root, "swarmgate.show", "1.1")
    assert "swarm approve" in told(project.root, "swarmgate.status", "")


def test_a_finding_that_is_nowhere_in_the_text_stands_on_a_line_that_is() -> None:
    from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus

    finding = Finding(rule="R", path="a.py", line=99, column=99, message="bad")
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,))
    (told_,) = diagnostics(GateReport(tree="", results=(result,)), "a.py", ["x = '𝄞'\n"])
    assert (told_.range.start.line, told_.range.end.character) == (0, 8)
    assert diagnostics(GateReport(tree="", results=(result,)), "b.py", []) == []
