"""The database of swarm chats: one transaction a turn, read-only when over, and no traceback for a damaged file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from swarmgate.domain.chat import MOST_CONTENT, Chat, ChatEnd, ChatResult, ChatTurn, Draft
from swarmgate.domain.debate import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import Archived, CouncilRefused, LedgerError, LedgerWriteFailed, StaleWriter
from swarmgate.ledger.chats import ChatDatabase
from swarmgate.ledger.folder import SwarmFolder


def chat(name: str = "talk", moderator: str = "") -> Chat:
    return Chat(
        id=name,
        agents=tuple(Seat(id=each) for each in ("ada", "bob", "cyd")),
        opening=Draft(sender="moderator", to=("ada", "bob"), content="Is it safe?"),
        moderator=moderator,
        ttl_s=60,
        messages=10,
        tokens=1000,
        created_at=100.0,
    )


def turn(agent: str, *said: tuple[str, str], read: tuple[int, ...] = (), **more: object) -> ChatTurn:
    drafts = tuple(Draft(sender=agent, to=(to,), content=content) for to, content in said)
    return ChatTurn(agent=agent, read=read, said=drafts, began_at=200.0, seconds=1.5, **more)


RESULT = ChatResult(id="talk", end=ChatEnd.SYNTHESIS, summary="It is.", by="ada")


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    return SwarmFolder(tmp_path)


@pytest.fixture
def store(folder: SwarmFolder) -> Iterator[ChatDatabase]:
    with ChatDatabase(folder) as opened:
        yield opened


def test_a_message_is_delivered_in_order_to_whom_it_is_for(store: ChatDatabase) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", ("bob", "one"), ("cyd", "two"), read=(1,)))
    assert store.oldest_unread("talk") == {"bob": 1, "cyd": 3}
    assert [each.id for each in store.unread("talk", "bob", limit=9)] == ["msg-000001", "msg-000002"]
    assert [each.id for each in store.unread("talk", "bob", limit=1)] == ["msg-000001"]
    assert [each.content for each in store.earlier("talk", "ada", limit=9)] == ["Is it safe?", "one", "two"]
    assert [each.content for each in store.earlier("talk", "ada", limit=2)] == ["one", "two"]


def test_a_moderator_is_sent_everything_but_its_own(store: ChatDatabase) -> None:
    told = chat(moderator="cyd")
    store.begin(told)
    store.keep(told, turn("ada", ("bob", "between us"), read=(1,)))
    store.keep(told, turn("cyd", ("bob", "my own")))
    assert [each.number for each in store.unread("talk", "cyd", limit=9)] == [1, 2]


def test_a_turn_is_kept_whole_or_not_at_all(store: ChatDatabase, folder: SwarmFolder) -> None:
    store.begin(chat())
    before = store.load("talk")
    with pytest.raises(LedgerError, match=r"chats.sqlite3: the chat talk was changed: FOREIGN KEY"):
        store.keep(chat().model_copy(update={"agents": (*chat().agents, Seat(id="eve"))}), turn("ada", ("eve", "x")))
    assert store.load("talk") == before


def test_a_failed_turn_leaves_its_messages_unread_until_it_gave_up(store: ChatDatabase) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", read=(1,), failed="no answer", usage=Usage(calls=1, prompt_tokens=5)))
    assert "ada" in store.oldest_unread("talk")
    assert store.standing("talk").faltering == {"ada": 1}
    store.keep(chat(), turn("ada", read=(1,), failed="no answer", gave_up=True, usage=Usage(calls=1, prompt_tokens=5)))
    assert "ada" not in store.oldest_unread("talk")
    store.keep(chat(), turn("bob", ("ada", "hello"), read=(1,)))
    found = store.standing("talk")
    assert (found.messages, found.turns, found.failed_turns, found.usage.tokens) == (1, 3, 2, 10)
    assert (found.faltering, found.heard) == ({"ada": 2}, ("bob",))


def test_the_record_has_every_message_with_who_read_it_when(store: ChatDatabase) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", ("bob", "one"), read=(1,)), RESULT)
    record = store.load("talk")
    assert [each.read for each in record.messages] == [{"ada": 201.5, "bob": None}, {"bob": None}]
    assert (record.result, record.turns[0].agent, record.chat) == (RESULT, "ada", chat())
    assert [(each.id, each.end, each.messages) for each in store.ids()] == [("talk", ChatEnd.SYNTHESIS, 1)]


def test_nothing_of_a_chat_that_is_over_can_be_changed_by_our_code(store: ChatDatabase) -> None:
    store.begin(chat())
    store.end(RESULT)
    before = store.load("talk")
    for change in (
        lambda: store.begin(chat()),
        lambda: store.find("talk"),
        lambda: store.keep(chat(), turn("ada", ("bob", "x"))),
        lambda: store.keep(chat(), turn("ada", read=(1,), failed="x")),
        lambda: store.end(RESULT),
    ):
        with pytest.raises(Archived, match="over"):
            change()
    assert store.load("talk") == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE swarms SET archived = 0 WHERE id = 'talk'",
        "DELETE FROM swarms WHERE id = 'talk'",
        "INSERT OR REPLACE INTO swarms (id, created_at, chat) VALUES ('talk', 1, '{}')",
        "UPDATE OR REPLACE swarms SET id = 'talk' WHERE id = 'other'",
        "INSERT INTO agent_messages VALUES ('talk', 9, 'ada', '[]', 'forged', 1)",
        "INSERT OR REPLACE INTO agent_messages VALUES ('talk', 1, 'ada', '[]', 'forged', 1)",
        "UPDATE agent_messages SET content = 'forged' WHERE swarm_id = 'talk'",
        "UPDATE agent_messages SET swarm_id = 'talk', number = 9 WHERE swarm_id = 'other'",
        "DELETE FROM agent_messages WHERE swarm_id = 'talk'",
        "UPDATE agent_inbox SET read_at = 1 WHERE swarm_id = 'talk'",
        "DELETE FROM agent_inbox WHERE swarm_id = 'talk'",
        "INSERT INTO agents VALUES ('talk', 'eve', 9)",
        "DELETE FROM agents WHERE swarm_id = 'talk'",
        "INSERT INTO agent_turns VALUES ('talk', 9, 'ada', '{}')",
        "DELETE FROM agent_turns WHERE swarm_id = 'talk'",
    ],
)
def test_nor_by_sql_from_elsewhere(store: ChatDatabase, folder: SwarmFolder, statement: str) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", ("bob", "one"), read=(1,)), RESULT)
    store.begin(chat("other"))
    before = store.load("talk")
    database = sqlite3.connect(folder.chats)
    with pytest.raises(sqlite3.IntegrityError, match="archived"):
        database.execute(statement)
    database.close()
    assert store.load("talk") == before
    store.keep(chat("other"), turn("ada", read=(1,)))  # one that is not over goes on


def test_an_id_that_is_taken_and_one_that_is_unknown_are_told(store: ChatDatabase) -> None:
    with pytest.raises(CouncilRefused, match="no chat 'talk'") as unknown:
        store.load("talk")
    assert "swarm chat list" in unknown.value.hint
    store.begin(chat())
    with pytest.raises(CouncilRefused, match="already") as taken:
        store.begin(chat())
    assert "swarm chat resume talk" in taken.value.hint
    with pytest.raises(CouncilRefused) as near:
        store.find("tolk")
    assert "Did you mean talk?" in near.value.hint


@pytest.mark.parametrize("damage", ["header", "middle", "cut"])
def test_a_damaged_file_is_named_and_kept_aside_and_the_next_chat_begins_anew(folder: SwarmFolder, damage: str) -> None:
    with ChatDatabase(folder) as store:
        store.begin(chat())
        for _ in range(60):
            store.keep(chat(), turn("ada", *[("bob", "x" * 900)] * 3))
    data = bytearray(folder.chats.read_bytes())
    if damage == "header":
        data[:16] = b"not a database !"
    elif damage == "middle":
        data[4096:-4096] = b"\xff" * (len(data) - 8192)
    else:
        del data[len(data) // 2 :]
    folder.chats.write_bytes(data)
    with ChatDatabase(folder) as store, pytest.raises(LedgerError, match=r"chats.sqlite3 is damaged") as told:
        store.ids()
    kept = list(folder.quarantine.rglob("chats.sqlite3"))
    assert [path.read_bytes() for path in kept] == [bytes(data)]
    assert folder.relative(kept[0].parent) in told.value.message
    with ChatDatabase(folder) as store:
        store.begin(chat())
        assert store.find("talk") == chat()


def test_a_record_that_was_changed_by_hand_and_a_newer_file_are_told(store: ChatDatabase, folder: SwarmFolder) -> None:
    store.begin(chat())
    database = sqlite3.connect(folder.chats)
    database.execute("UPDATE swarms SET chat = '{}'")
    database.execute("PRAGMA user_version = 9")
    database.commit()
    database.close()
    with pytest.raises(LedgerError, match="the chat talk was changed: a record of it cannot be read"):
        store.find("talk")
    with ChatDatabase(folder) as newer, pytest.raises(LedgerError, match="version 9"):
        newer.find("talk")
    assert folder.chats.exists()


def test_several_may_open_a_new_file_at_once_and_write_different_chats(folder: SwarmFolder) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            with ChatDatabase(folder) as own:
                talk = chat(f"talk-{number}")
                own.begin(talk)
                for _ in range(10):
                    own.keep(talk, turn("ada", ("bob", "x")))
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with ChatDatabase(folder) as store:
        assert {each.messages for each in store.ids()} == {10}


def test_secrets_are_masked_before_they_are_written(folder: SwarmFolder) -> None:
    with ChatDatabase(folder, redact=lambda text: text.replace("hunter2", "[redacted]")) as store:
        secret = chat().model_copy(update={"opening": Draft(sender="moderator", to=("ada",), content="pass hunter2")})
        store.begin(secret)
        store.keep(secret, turn("ada", ("bob", "it is hunter2"), read=(1,)))
        store.keep(secret, turn("ada", failed="hunter2 was refused"))
        store.end(RESULT.model_copy(update={"summary": "hunter2"}))
        assert "hunter2" not in store.load("talk").model_dump_json()
        assert store.load("talk").messages[1].message.content == "it is [redacted]"


def sql(folder: SwarmFolder, *statements: str) -> None:
    """What somebody else does to the file."""
    with closing(sqlite3.connect(folder.chats)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def test_a_turn_whose_inbox_another_has_read_meanwhile_is_not_kept(store: ChatDatabase) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", ("bob", "one"), read=(1,)))
    before = store.load("talk")
    with pytest.raises(StaleWriter, match="what ada read was read there already"):
        store.keep(chat(), turn("ada", ("bob", "one"), read=(1,)))
    assert store.load("talk") == before


def test_a_turn_that_was_cut_keeps_its_use_and_its_words_and_has_read_nothing(store: ChatDatabase) -> None:
    store.begin(chat())
    unsent = (Draft(sender="bob", to=("ada",), content="not yet"),)
    used = Usage(calls=2, prompt_tokens=7)
    cut = turn("bob", read=(1,), cut=True, stopped="ada ended the chat", unsent=unsent, usage=used)
    store.keep(chat(), cut)
    assert store.oldest_unread("talk") == {"ada": 1, "bob": 1}
    found = store.standing("talk")
    assert (found.turns, found.usage, found.heard, found.failed_turns) == (1, used, (), 0)
    store.end(RESULT, cut=(cut,))
    assert [(each.cut, each.unsent) for each in store.load("talk").turns] == [(True, unsent)] * 2


def test_an_endpoint_that_failed_is_no_failing_of_the_agent_and_who_once_spoke_was_heard(store: ChatDatabase) -> None:
    store.begin(chat())
    store.keep(chat(), turn("ada", read=(1,)))
    store.keep(chat(), turn("ada", failed="gone", unreachable=True))
    store.keep(chat(), turn("bob", failed="no words"))
    found = store.standing("talk")
    assert (found.heard, found.faltering, found.failed_turns) == (("ada",), {"bob": 1}, 2)


def test_a_text_that_masking_makes_too_long_is_kept_with_a_note(folder: SwarmFolder) -> None:
    with ChatDatabase(folder, redact=lambda text: text.replace("k1", "[redacted secret]")) as store:
        long = Draft(sender="moderator", to=("ada", "bob"), content="k1" + "x" * (MOST_CONTENT - 2))
        asked = chat().model_copy(update={"opening": long})
        store.begin(asked)
        kept = store.find("talk").opening.content
        assert kept.startswith("[redacted secret]x")
        assert kept.endswith("the end was cut: without its secrets the text is longer than a message may be ...]")
        assert len(kept) == MOST_CONTENT
        assert store.unread("talk", "ada", limit=1)[0].content == kept


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE swarms SET archived = 1 WHERE id = 'talk'",
        "UPDATE swarms SET archived = 1, result = 'not json' WHERE id = 'talk'",
        "UPDATE swarms SET archived = 1, result = '{}' WHERE id = 'talk'",
        "UPDATE swarms SET chat = '{' WHERE id = 'talk'",
        "UPDATE swarms SET chat = CAST(x'ff61' AS TEXT) WHERE id = 'talk'",
        "DELETE FROM agent_messages WHERE swarm_id = 'talk'",
        "DELETE FROM agent_messages WHERE swarm_id = 'talk' AND number = 2",
        "DELETE FROM agent_messages WHERE swarm_id = 'talk' AND number = 3",
    ],
)
def test_a_chat_that_was_changed_is_told_by_its_name_and_the_others_are_listed(
    store: ChatDatabase, folder: SwarmFolder, damage: str
) -> None:
    for name in ("talk", "other"):
        store.begin(chat(name))
        store.keep(chat(name), turn("ada", ("bob", "x"), ("bob", "y"), read=(1,)))
    sql(folder, damage)
    for look in (store.load, lambda name: (store.find(name), store.standing(name))):
        with pytest.raises(LedgerError, match=r"chats.sqlite3: the chat talk was changed") as told:
            look("talk")
        assert not isinstance(told.value, LedgerWriteFailed)
        assert "disk" not in told.value.hint
    found = {each.id: (each.messages, bool(each.damaged)) for each in store.ids()}
    assert found == {"talk": (0, True), "other": (2, False)}
    assert store.load("other").chat == chat("other")


@pytest.mark.parametrize(
    "change",
    [
        "recipients = 'x'",
        "recipients = '5'",
        "recipients = '[5]'",
        "content = x'ff'",
        "content = CAST(x'ff61' AS TEXT)",
        "sent_at = 'noon'",
    ],
)
def test_a_message_that_is_none_of_ours_is_told(store: ChatDatabase, folder: SwarmFolder, change: str) -> None:
    store.begin(chat())
    sql(folder, f"UPDATE agent_messages SET {change}")  # noqa: S608 - from the list above
    for look in (lambda: store.load("talk"), lambda: store.unread("talk", "ada", limit=3)):
        with pytest.raises(LedgerError, match="the chat talk was changed") as told:
            look()
        assert not isinstance(told.value, LedgerWriteFailed)


def test_a_file_of_somebody_else_is_told_and_left_alone(folder: SwarmFolder) -> None:
    folder.chats.parent.mkdir(parents=True)
    folder.chats.mkdir()
    with ChatDatabase(folder) as store, pytest.raises(LedgerError, match=r"chats.sqlite3 is not a file"):
        store.ids()
    folder.chats.rmdir()
    sql(folder, "CREATE TABLE agents (x)")
    with ChatDatabase(folder) as store, pytest.raises(LedgerError, match="tables without a version: agents"):
        store.begin(chat())
    sql(folder, "PRAGMA user_version = 1")
    with ChatDatabase(folder) as store, pytest.raises(LedgerError, match="it has no table agent_inbox"):
        store.begin(chat())
    folder.chats.unlink()
    with ChatDatabase(folder) as store:
        store.begin(chat())
    sql(folder, "PRAGMA user_version = 0")
    with ChatDatabase(folder) as store, pytest.raises(LedgerError, match="tables without a version") as told:
        store.ids()
    assert "disk" not in told.value.hint


def test_a_full_disk_is_told_as_one(store: ChatDatabase, folder: SwarmFolder) -> None:
    store.begin(chat())
    with store._file.reading() as database:
        database.execute("PRAGMA max_page_count = 20")
    with pytest.raises(LedgerWriteFailed) as told:
        store.keep(chat(), turn("ada", *[("bob", "x" * 20_000)] * 16))
    assert "Make room on the disk" in told.value.hint
    assert folder.relative(folder.chats) in told.value.message
