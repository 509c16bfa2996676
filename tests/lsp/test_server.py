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
from tests.project import GOAL, Project, _after, _template, once, project, rule

from swarmgate.domain.state.state import TaskStatus
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


@pytest.mark.slow
async def test_a_click_above_a_task_shows_it_and_has_a_blocked_one_tried_again(project: Project) -> None:
    project.play(rule("architect", "delegate", {"text": "I would rather not."}))
    await Swarm(project.root).plan(GOAL)
    Swarm(project.root).approve()
    await Swarm(project.root).run()
    assert project.state.task("1.1").status is TaskStatus.BLOCKED
    place = project.folder.plan_md
    async with editor(project.root) as client:
        item = types.TextDocumentItem(uri=place.as_uri(), language_id="markdown", version=1, text=project.plan_md)
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        asked = types.CodeLensParams(text_document=types.TextDocumentIdentifier(uri=place.as_uri()))

        async def lines() -> dict[str, types.Command]:
            found = await client.text_document_code_lens_async(asked) or []
            text = project.plan_md.splitlines()
            for each in found:
                assert each.command
                assert each.command.title == "swarm status" or "Task 1.1" in text[each.range.start.line]
            return {each.command.title: each.command for each in found if each.command}

        async def click(command: types.Command) -> types.ShowMessageParams:
            before = len(client.messages)
            called = types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
            await client.workspace_execute_command_async(called)
            await _heard(client, before)
            return client.messages[-1]

        shown = await lines()
        assert set(shown) == {"swarm status", "blocked: show", "retry"}
        assert "swarm retry 1.1" in (await click(shown["swarm status"])).message
        assert "Part 1.1 (blocked)" in (await click(shown["blocked: show"])).message
        assert (await click(shown["retry"])).message == "Task 1.1 is tried again by the next: swarm run"
        assert project.state.task("1.1").status is not TaskStatus.BLOCKED
        assert "retry" not in await lines()
        gone = await click(types.Command(title="show", command="swarmgate.show", arguments=["9.9"]))
        assert (gone.type, "9.9" in gone.message) == (types.MessageType.Error, True)


async def _heard(client: LanguageClient, before: int) -> None:
    """Waits for another message to the person."""
    async with asyncio.timeout(60):
        while len(client.messages) == before:
            await client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)


def test_a_finding_that_is_nowhere_in_the_text_stands_on_a_line_that_is() -> None:
    from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus

    finding = Finding(rule="R", path="a.py", line=99, column=99, message="bad")
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,))
    (told_,) = diagnostics(GateReport(tree="", results=(result,)), "a.py", ["x = '𝄞'\n"])
    assert (told_.range.start.line, told_.range.end.character) == (0, 8)
    assert diagnostics(GateReport(tree="", results=(result,)), "b.py", []) == []
