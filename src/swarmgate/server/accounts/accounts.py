"""The accounts of one server, and all that proves them: passwords, links, sessions, tokens, API keys.

accounts = Accounts(home, settings.server)
ada = accounts.create("ada", roles={"*": Role.APPROVER}, password="several words in a row")
principal = accounts.verify(accounts.sessions.issue(ada.id).access_token)

Every method may be called from any thread; those that hash a password take a twentieth of a second. What may be asked
of them by whom is decided by `services`; what they were asked is written down by `audit`.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from swarmgate.config import Server
from swarmgate.errors import IllegalMove, NotFound, Unauthenticated, UsageError
from swarmgate.server.accounts import audit, keys, links, passwords, sessions
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Account, AccountName, LoginLink, Principal, Role, Tokens
from swarmgate.server.accounts.proofs import Proofs
from swarmgate.server.accounts.secret_texts import KEY
from swarmgate.server.accounts.signing import Signer

_TABLES = """
CREATE TABLE IF NOT EXISTS accounts (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, roles TEXT NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0, created REAL NOT NULL, password TEXT, subject TEXT UNIQUE);
"""
_MINUTE_S, _DAY_S = 60, 86_400
_NAME: TypeAdapter[str] = TypeAdapter(AccountName)
_NOT_IN = "Name and password do not belong together."


class Accounts:
    """The accounts of one server.

    Args:
        home: the server's folder, for `server.sqlite3` and `signing.key`.
        settings: of the server: how long tokens and logins live.
        clock: seconds since 1970.

    Attributes:
        sessions: logins that go on.
        keys: of programs.
        log: the audit log.
        signer: of this server.

    Raises:
        StoreAway: the file cannot be used.
        ConfigError: the signing key can be read by others.
    """

    def __init__(self, home: Path, settings: Server, *, clock: Callable[[], float] = time.time) -> None:
        tables = _TABLES + sessions.TABLES + links.TABLES + keys.TABLES + audit.TABLES
        self._database, self._clock = Database(home, tables), clock
        self.signer = Signer.at(home)
        self.sessions = sessions.Sessions(
            self._database,
            self.signer,
            access_s=settings.token_minutes * _MINUTE_S,
            refresh_s=settings.refresh_days * _DAY_S,
            clock=clock,
        )
        self.keys = keys.ApiKeys(self._database, clock)
        self.log = audit.AuditLog(self._database, clock)
        self._links = links.LoginLinks(self._database, clock)
        self._proofs = Proofs(self._database, clock)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    # --- the accounts themselves ---

    def create(self, name: str, *, roles: Mapping[str, Role] | None = None, password: str = "") -> Account:
        """Makes an account.

        Args:
            name: what it logs in by; no other one may have it, in whatever case.
            roles: by the id of a repository, `*` for all; none: it may look at nothing yet.
            password: empty: it logs in by links, or through a provider.

        Raises:
            UsageError: the name is taken or is none, or the password is too short.
        """
        named = _checked(name)
        if password:
            passwords.check_new(password, named)
        account = f"a-{secrets.token_hex(6)}"
        kept = passwords.hashed(password) if password else None
        with _unique(named), self._database.writing() as database:
            database.execute(
                "INSERT INTO accounts (id, name, folded, roles, created, password) VALUES (?, ?, ?, ?, ?, ?)",
                (account, named, named.casefold(), _json(roles or {}), self._clock(), kept),
            )
        return self.get(account)

    def list(self) -> tuple[Account, ...]:
        """All accounts, by name."""
        return tuple(map(_account, self._database.rows("SELECT * FROM accounts ORDER BY folded")))

    def get(self, account: str) -> Account:
        """The account of that id.

        Raises:
            NotFound: there is none.
        """
        row = self._database.row("SELECT * FROM accounts WHERE id = ?", account)
        if row is None:
            raise NotFound("There is no such account.")
        return _account(row)

    def named(self, name: str) -> Account:
        """The account of that name, in whatever case.

        Raises:
            NotFound: there is none.
        """
        row = self._database.row("SELECT * FROM accounts WHERE folded = ?", name.casefold())
        if row is None:
            raise NotFound("There is no such account.")
        return _account(row)

    def update(
        self,
        account: str,
        *,
        name: str | None = None,
        roles: Mapping[str, Role] | None = None,
        disabled: bool | None = None,
    ) -> Account:
        """Changes what is given; a disabled account is logged out everywhere.

        Raises:
            NotFound: there is no such account.
            UsageError: the name is taken, or is none.
            IllegalMove: nobody would be left who may keep accounts.
        """
        with self._database.writing() as database:
            before = self.get(account)
            named = before.name if name is None else _checked(name)
            off = before.disabled if disabled is None else disabled
            with _unique(named):
                database.execute(
                    "UPDATE accounts SET name = ?, folded = ?, roles = ?, disabled = ? WHERE id = ?",
                    (named, named.casefold(), _json(before.roles if roles is None else roles), off, account),
                )
            if off:
                self.sessions.end_all(account)
            self._require_admin(before)
        return self.get(account)

    def delete(self, account: str) -> None:
        """Deletes an account with its sessions, links and keys; ledgers and the audit log keep its name.

        Raises:
            NotFound: there is no such account.
            IllegalMove: nobody would be left who may keep accounts.
        """
        with self._database.writing() as database:
            before = self.get(account)
            database.execute("DELETE FROM accounts WHERE id = ?", (account,))
            self._require_admin(before)

    def admin(self) -> Account:
        """The oldest account that may everything; the first one of a server is made here, without a password."""
        found = map(_account, self._database.rows("SELECT * FROM accounts ORDER BY created, id"))
        admins = [each for each in found if _keeps_accounts(each)]
        return admins[0] if admins else self.create(_free_name(self.list()), roles={EVERY_REPOSITORY: Role.ADMIN})

    # --- what proves them ---

    def set_password(self, account: str, password: str, *, session: str = "") -> None:
        """Gives an account a password, or another one; all its sessions end but the one that asks.

        Raises:
            NotFound: there is no such account.
            UsageError: the password is too short.
        """
        passwords.check_new(password, self.get(account).name)
        kept = passwords.hashed(password)
        with self._database.writing() as database:
            database.execute("UPDATE accounts SET password = ? WHERE id = ?", (kept, account))
            self.sessions.end_all(account, but=session)

    def check_password(self, name: str, password: str) -> Account:
        """The account of that name, if that is its password.

        Raises:
            Unauthenticated: it is not, or there is no such account, or it is disabled: none of it is told apart, by
                words or by time.
        """
        row = self._database.row("SELECT * FROM accounts WHERE folded = ?", name.casefold())
        right = passwords.matches(row["password"] if row else None, password)
        if row is None or not right or row["disabled"]:
            raise Unauthenticated(_NOT_IN, hint="try again, or ask an admin for a login link")
        if passwords.outdated(row["password"]):
            kept = passwords.hashed(password)
            with self._database.writing() as database:
                database.execute("UPDATE accounts SET password = ? WHERE id = ?", (kept, row["id"]))
        return _account(row)

    def login_link(self, account: str) -> LoginLink:
        """A link that logs an account in once.

        Raises:
            NotFound: there is no such account.
        """
        return self._links.make(self.get(account).id)

    def redeem(self, token: str) -> Principal:
        """Who a login link is for; it is used up by that.

        Raises:
            Unauthenticated: it is none, was used, or is over.
        """
        return Principal(account=self._enabled(self._links.redeem(token)), via="link")

    def of_provider(self, subject: str, name: str, new: Role | None) -> Account:
        """The account of somebody whom an OpenID provider vouches for.

        Args:
            subject: the provider and what it calls them; it stays when they are renamed.
            name: what an account of theirs is called, at first.
            new: the role in all repositories of an account that is made for them; None: none is made.

        Raises:
            Unauthenticated: they have no account here, or it is disabled.
            UsageError: the name cannot be one of an account.
        """
        with self._database.writing() as database:
            row = database.execute("SELECT id FROM accounts WHERE subject = ?", (subject,)).fetchone()
            if row is None:
                # An account that is bound to another subject is somebody else's, whatever the provider calls them now.
                row = database.execute(
                    "UPDATE accounts SET subject = ? WHERE folded = ? AND subject IS NULL RETURNING id",
                    (subject, name.casefold()),
                ).fetchone()
            if row is None and new is not None:
                row = {"id": self.create(name, roles={EVERY_REPOSITORY: new}).id}
                database.execute("UPDATE accounts SET subject = ? WHERE id = ?", (subject, row["id"]))
        if row is None:
            raise Unauthenticated("You have no account here.", hint="ask an admin for one")
        return self._enabled(row["id"])

    def refresh(self, token: str) -> Tokens:
        """The next tokens for a refresh token.

        Raises:
            Unauthenticated: it is none, over, or was used before; that ends the whole login, and is written down.
        """
        try:
            return self.sessions.refresh(token)
        except sessions.Reused as stolen:
            self.log.add("server", "refresh_token_reused", stolen.account, detail="its login was ended")
            raise

    def verify(self, token: str) -> Principal:
        """Who an access token or an API key proves.

        Raises:
            Unauthenticated: it is over, revoked or wrong, or its account is disabled.
        """
        return self._proofs.proved(token, self._of_key if token.startswith(KEY) else self._of_token)

    def verify_cookie(self, secret: str) -> Principal:
        """Who the cookie of a session proves.

        Raises:
            Unauthenticated: it is over, revoked or wrong, or its account is disabled.
        """
        return self._proofs.proved(secret, self._of_cookie)

    def _of_key(self, secret: str) -> tuple[Principal, float]:
        key = self.keys.verify(secret)
        until = key.expires.timestamp() if key.expires else float("inf")
        return Principal(account=self._enabled(key.account), via="key", key_id=key.id), until

    def _of_token(self, token: str) -> tuple[Principal, float]:
        session = self.sessions.of_token(token)
        return Principal(account=self._enabled(session.account), via="token", session=session.id), session.expires

    def _of_cookie(self, secret: str) -> tuple[Principal, float]:
        session = self.sessions.of_cookie(secret)
        return Principal(account=self._enabled(session.account), via="session", session=session.id), session.expires

    def _enabled(self, account: str) -> Account:
        row = self._database.row("SELECT * FROM accounts WHERE id = ? AND NOT disabled", account)
        if row is None:
            raise Unauthenticated("The account is disabled, or is not there any more.", hint="ask an admin")
        return _account(row)

    def _require_admin(self, before: Account) -> None:
        if _keeps_accounts(before) and not any(map(_keeps_accounts, self.list())):
            raise IllegalMove(
                f"{before.name} is the last account that may keep accounts.", hint="make another one an admin first"
            )


def _keeps_accounts(account: Account) -> bool:
    return not account.disabled and account.roles.get(EVERY_REPOSITORY) is Role.ADMIN


def _free_name(accounts: tuple[Account, ...]) -> str:
    taken = {each.name.casefold() for each in accounts}
    return next(name for name in ("admin", *(f"admin{number}" for number in range(2, 10_000))) if name not in taken)


def _checked(name: str) -> str:
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise UsageError(
            "That cannot be the name of an account.",
            hint="1 to 100 letters, digits and . _ @ + -, the first of them a letter or a digit",
        ) from None


@contextmanager
def _unique(name: str) -> Iterator[None]:
    """A block whose write is refused where the name is taken."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise UsageError(f"There is an account {name} already.", hint="take another name") from None


def _json(roles: Mapping[str, Role]) -> str:
    return json.dumps({repo: Role(role).value for repo, role in roles.items()})


def _account(row: sqlite3.Row) -> Account:
    return Account(
        id=row["id"],
        name=row["name"],
        roles={repo: Role(role) for repo, role in json.loads(row["roles"]).items()},
        disabled=bool(row["disabled"]),
        created=datetime.fromtimestamp(row["created"], UTC),
        has_password=row["password"] is not None,
    )
