"""Which forge an address belongs to, and where a pull request is opened there."""

from __future__ import annotations

import pytest

from swarmgate.workspace.git.hosting.forge import Forge, hosting


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://github.com/own/er.git", Forge("github.com", "own/er", "github")),
        ("https://me:token@github.com/own/er/", Forge("github.com", "own/er", "github")),
        ("git@github.com:own/er.git", Forge("github.com", "own/er", "github")),
        ("ssh://git@ssh.github.com:443/own/er.git", Forge("github.com", "own/er", "github")),
        ("ssh://git@gitlab.corp.test:2222/a/b/c", Forge("gitlab.corp.test", "a/b/c", "gitlab")),
        ("https://git.corp.test:8443/a/b.git", Forge("git.corp.test:8443", "a/b", "")),
        ("git@bitbucket.org:own/er.git", Forge("bitbucket.org", "own/er", "bitbucket")),
        ("https://codeberg.org/own/er", Forge("codeberg.org", "own/er", "gitea")),
        ("../bare.git", None),
        ("/srv/git/er.git", None),
        ("file:///srv/git/er.git", None),
        ("C:\\git\\er.git", None),
        ("C:/git/er.git", None),
        ("https://[broken/er", None),
        ("https://github.com/", None),
    ],
)
def test_the_forge_of_an_address(address: str, found: Forge | None) -> None:
    assert hosting(address) == found


def test_the_first_address_that_names_a_forge_counts() -> None:
    assert hosting("/srv/er.git", "https://github.com/own/er") == Forge("github.com", "own/er", "github")


def test_names_of_branches_cannot_leave_their_place_in_an_address() -> None:
    page = Forge("github.com", "own/er", "github").page("main", "a/b?c&d#e...f")
    assert page == "https://github.com/own/er/compare/main...a%2Fb%3Fc%26d%23e...f?expand=1"
    assert Forge("git.corp.test", "a/b", "").page("main", "x") == ""
