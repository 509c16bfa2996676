"""Policy rules about the machine and the network: disks, power, privileges, other hosts, publishing, fork bombs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.model import UNKNOWN, Simple
from swarmgate.workspace.command_policy.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.workspace.command_policy.path_zones import Grounds


@dataclass(frozen=True, slots=True)
class _Ban:
    """Programs that are refused, but where they get one of `unless` (empty: always)."""

    rule: str
    programs: str
    why: str
    instead: str
    unless: str = ""


_BANS = (
    _Ban("privilege", "sudo doas su pkexec runuser gosu visudo passwd useradd userdel usermod groupadd chsh",
         "it asks for the rights of another user", "Run it as you are; what needs root is the user's to do."),
    _Ban("sandbox", "unshare nsenter chroot systemd-run firejail bwrap setpriv capsh ptrace",
         "it changes what confines commands", "Run the command itself."),
    _Ban("disk", "mkfs mke2fs mkswap fdisk sfdisk gdisk sgdisk cfdisk parted wipefs blkdiscard umount swapoff swapon "
         "losetup cryptsetup hdparm diskutil hdiutil zpool zfs lvremove vgremove pvremove badblocks fsck debugfs "
         "mdadm sysctl insmod modprobe rmmod kexec", "it works on disks or on the kernel",
         "Nothing in a repository needs that."),
    _Ban("power", "shutdown reboot halt poweroff init telinit", "it stops the machine",
         "Nothing in a repository needs that."),
    _Ban("processes", "pkill killall skill slay killall5", "it ends processes that are not yours",
         "End what you started by its id: kill $!"),
    _Ban("persistence", "crontab", "it stays behind when the task is over", "Run it now, in the foreground.", "-l"),
    _Ban("persistence", "systemctl", "it stays behind when the task is over", "Run it now, in the foreground.",
         "status list-units list-unit-files is-active is-enabled show cat --version"),
    _Ban("persistence", "launchctl", "it stays behind when the task is over", "Run it now, in the foreground.",
         "list print"),
    _Ban("persistence", "at batch update-rc.d chkconfig rc-update loginctl service initctl",
         "it stays behind when the task is over", "Run it now, in the foreground."),
    _Ban("remote", "ssh scp sftp rsh rlogin telnet mosh ftp lftp rclone autossh sshpass ssh-copy-id",
         "it reaches another machine", "Work in the repository; the user deploys."),
    _Ban("network-setup", "iptables ip6tables nft ufw ifconfig route nmcli tcpdump", "it changes the machine's network",
         "Nothing in a repository needs that."),
)  # fmt: skip
_BY_PROGRAM = {name: ban for ban in _BANS for name in ban.programs.split()}

_PUBLISHING = {
    "npm": "publish unpublish deprecate dist-tag owner adduser login token access", "pnpm": "publish",
    "yarn": "publish npm",
    "bun": "publish", "twine": "upload", "flit": "publish", "poetry": "publish", "hatch": "publish", "uv": "publish",
    "pdm": "publish", "cargo": "publish yank owner login", "gem": "push yank owner", "docker": "push login",
    "podman": "push login", "helm": "push", "mvn": "deploy release:perform", "gradle": "publish", "gradlew": "publish",
    "nuget": "push", "dotnet": "nuget", "vsce": "publish", "ovsx": "publish", "lerna": "publish",
    "changeset": "publish",
    "semantic-release": "", "np": "", "goreleaser": "release", "terraform": "apply destroy", "pulumi": "up destroy",
    "kubectl": "apply delete create replace patch scale drain exec", "aws": "", "gcloud": "", "az": "", "heroku": "",
    "vercel": "", "netlify": "deploy", "fly": "deploy", "flyctl": "deploy", "firebase": "deploy",
    "wrangler": "deploy publish",
    "surge": "", "gsutil": "", "s3cmd": "", "doctl": "",
}  # fmt: skip
"""Verbs that publish or deploy; no verb: the whole program works on somebody's account."""
_HARMLESS = frozenset({"--version", "--help", "-h", "-v", "version", "help", "--dry-run"})

_GH_READING = frozenset({"view", "list", "status", "diff", "checks", "search", "browse", "--version", "--help"})


def reasons(simple: Simple, grounds: Grounds) -> Iterator[Reason]:
    """Yields the reasons to refuse a command because of its effect on the machine or the network."""
    del grounds
    yield from _code(simple)
    if not simple.words or simple.program == UNKNOWN:
        return
    yield from _banned(simple)
    yield from _published(simple)
    for judge in _JUDGES.get(simple.program, ()):
        yield from judge(simple)


def _reason(rule: str, simple: Simple, why: str, instead: str) -> Reason:
    return Reason(rule, str(simple), why, instead)


def _code(simple: Simple) -> Iterator[Reason]:
    if simple.loops:
        yield _reason(
            "fork-bomb", simple, "it starts itself again and again", "Start a bounded number of processes, and wait."
        )
    for each in simple.redirects:
        if re.match(r"/dev/(?:tcp|udp)/(?!localhost|127\.)", each.target.text):
            yield _reason("remote", simple, "it opens a connection to another machine", "Work in the repository.")
    if simple.unread:
        yield _reason(
            "unread-code", simple, simple.unread, "Write it into a file of the repository, read it, then run that."
        )
    if simple.words and simple.program == UNKNOWN and not simple.unread:
        why = f"which program `{simple.words[0]}` is, is known only when it runs"
        yield _reason("dynamic-program", simple, why, "Write the program's name out.")


def _banned(simple: Simple) -> Iterator[Reason]:
    name = simple.program
    ban = _BY_PROGRAM.get(name) or (_BY_PROGRAM["mkfs"] if name.startswith(("mkfs.", "newfs", "fsck.")) else None)
    if ban and not set(simple.texts) & ({*ban.unless.split()} if ban.unless else {"--version", "--help"}):
        yield _reason(ban.rule, simple, ban.why, ban.instead)


def _published(simple: Simple) -> Iterator[Reason]:
    verbs = _PUBLISHING.get(simple.program)
    texts = [text for text in simple.texts if not text.startswith("-")]
    if verbs is None or _HARMLESS & set(simple.texts):
        return
    if not verbs or (texts and texts[0] in verbs.split()) or (verbs and set(texts[:2]) & {"publish"}):
        yield _reason(
            "publish",
            simple,
            "it publishes, deploys, or acts with somebody's account",
            "The user publishes; prepare it as files.",
        )


def _kill(simple: Simple) -> Iterator[Reason]:
    targets = _targets(simple.texts)
    if set(targets) & {"-1", "1", "0"}:
        yield _reason(
            "processes", simple, "it ends processes that are not yours", "End what you started by its id: kill $!"
        )


def _targets(texts: Sequence[str]) -> list[str]:
    """The process ids: `-9` is a signal where it comes first, `-1` after it is everybody."""
    rest = list(texts)
    if rest and rest[0] in {"-s", "-n", "--signal"}:
        rest = rest[2:]
    elif rest and rest[0].startswith("-") and rest[0] != "--":
        rest = rest[1:] or rest
    return [text for text in rest if text != "--"]


def _dd(simple: Simple) -> Iterator[Reason]:
    for text in simple.texts:
        if re.match(r"of=/dev/(?!null|stdout|stderr|zero|fd/)", text):
            yield _reason("disk", simple, "it overwrites a device", "Write into a file of the repository.")


def _mount(simple: Simple) -> Iterator[Reason]:
    if simple.texts and not set(simple.texts) <= {"-l", "-v", "--version"}:
        yield _reason("disk", simple, "it changes what is mounted", "Nothing in a repository needs that.")


def _history(simple: Simple) -> Iterator[Reason]:
    if any(text.startswith("-") and set(text[1:]) & set("cdwr") for text in simple.texts):
        yield _reason("cover-up", simple, "it changes the shell's history", "Leave the history as it is.")


def _netcat(simple: Simple) -> Iterator[Reason]:
    runs = any(re.match(r"-[a-z]*[ec]|--exec|--sh-exec|--lua-exec|-l|--listen", text) for text in simple.texts)
    local = any(text in {"localhost", "127.0.0.1", "::1"} for text in simple.texts) or "-z" in simple.texts
    if runs or not local or any(text.lower().startswith(("exec:", "system:")) for text in simple.texts):
        yield _reason(
            "remote", simple, "it opens a connection to another program or machine", "Work in the repository."
        )


def _rsync(simple: Simple) -> Iterator[Reason]:
    if any(
        re.match(r"(?:[\w.-]+@)?[\w.-]+::?[^:]|rsync://", text) for text in simple.texts if not text.startswith("-")
    ):
        yield _reason("remote", simple, "it copies to or from another machine", "Copy inside of the repository.")


def _upload(simple: Simple) -> Iterator[Reason]:
    texts = simple.texts
    local = any(re.match(r"(?:https?://)?(?:localhost|127\.\d|\[::1\]|0\.0\.0\.0)", text) for text in texts)
    sends = any(
        text in {"-T", "--upload-file"} or text.startswith(("--upload-file=", "--post-file", "--body-file"))
        or (text.startswith("@") and texts[index - 1] in _SENT)
        or re.match(r"(?:-d|--data[\w-]*=|-F|--form=)[^=]*=?@", text)
        or (index and texts[index - 1] in {"-F", "--form"} and "=@" in text)
        for index, text in enumerate(texts)
    )  # fmt: skip
    if sends and not local:
        yield _reason("upload", simple, "it sends files to another machine", "Keep the repository's files here.")


_SENT = frozenset({"-d", "--data", "--data-binary", "--data-raw", "--data-ascii", "--data-urlencode"})


def _permissions(simple: Simple) -> Iterator[Reason]:
    plain = [text for text in simple.texts if not text.startswith("-")]
    mode = plain[0] if plain else ""
    if re.fullmatch(r"[2467][0-7]{3}|[ugoa]*\+[rwx]*s[rwx]*", mode) and mode[0] != "0":
        yield _reason("privilege", simple, "it gives a file the rights of its owner", "Leave the set-id bits alone.")


def _gh(simple: Simple) -> Iterator[Reason]:
    plain = [text for text in simple.texts if not text.startswith("-")]
    reads = bool(_GH_READING & {*plain[:2], *simple.texts[:1]}) or (
        plain[:1] == ["api"] and not _writes_api(simple.texts)
    )
    if not reads:
        yield _reason("publish", simple, "it changes something on GitHub", "The user publishes; prepare it as files.")


def _writes_api(texts: Sequence[str]) -> bool:
    return any(text.startswith(("-X", "--method", "-f", "-F", "--field", "--raw-field", "--input")) for text in texts)


def _docker(simple: Simple) -> Iterator[Reason]:
    texts = simple.texts
    mounts = any(
        re.search(r"(?:^|=|source=|src=)(?:/|~|/var/run/docker\.sock)(?::|,|$)|docker\.sock", text) for text in texts
    )
    if "--privileged" in texts or mounts or any("--pid=host" in text or text == "--net=host" for text in texts):
        yield _reason("sandbox", simple, "a container with the machine's rights is no container", "Run it without.")
    if "prune" in texts[:2] or texts[:2] == ("volume", "rm"):
        yield _reason("delete-outside", simple, "it deletes what other projects keep", "Delete what you made, by name.")


def _sed(simple: Simple) -> Iterator[Reason]:
    """`sed` can run commands: its `e` command and flag."""
    for text in simple.texts:
        if re.match(r"(?:\d+|\$|/[^/]*/)?\s*e\s+\S", text) or re.fullmatch(
            r"s(.).*\1.*\1[gpi0-9]*e[gpi0-9]*", text, re.DOTALL
        ):
            yield _reason("unread-code", simple, "sed's `e` runs commands", "Run the command by itself.")


_JUDGES = {
    "kill": (_kill,), "dd": (_dd,), "gdd": (_dd,), "mount": (_mount,), "history": (_history,),
    "nc": (_netcat,), "ncat": (_netcat,), "netcat": (_netcat,), "socat": (_netcat,), "rsync": (_rsync,),
    "curl": (_upload,), "wget": (_upload,), "chmod": (_permissions,), "gh": (_gh,), "docker": (_docker,),
    "podman": (_docker,), "sed": (_sed,), "gsed": (_sed,),
}  # fmt: skip
