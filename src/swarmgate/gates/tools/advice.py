"""Advice for fixing the findings of bandit and of ruff's security rules, by rule number."""

from __future__ import annotations

_ADDRESS = "https://bandit.readthedocs.io/en/latest/"
_SAFE_XML = "parse with defusedxml, which has the same functions"
_NOT_PLAIN = "use a protocol that encrypts: ssh, sftp, https"
_ARGUMENTS = "pass a list of arguments without shell=True; what comes from outside stays one argument"
_BOUND = "keep the SQL text constant and pass the values as parameters: execute(sql, values)"
_ESCAPED = "let the template escape the value, or build the markup with format_html"
_ELSEWHERE = "read it from the environment or a secret store"
_CIPHER = "use AES-GCM or ChaCha20Poly1305 of `cryptography`"
_TLS = "use ssl.create_default_context(), which chooses TLS 1.2 or newer"
_DATA = "load data only in a form that cannot hold code (JSON), or check a signature before"
_SHELL_LESS = "call the program with subprocess.run([...]), by its full path where PATH is not trusted"

_WHAT_TO_DO = {
    "B101": "raise an exception: python -O leaves assert out; in tests an assert is right",
    "B102": "call a function from a table of those that are allowed, instead of exec",
    "B103": "give the file no more than 0o644, or 0o600 where only its owner reads it",
    "B104": "bind to 127.0.0.1, or to the one address that is meant; all of them only behind a firewall",
    "B105": _ELSEWHERE, "B106": _ELSEWHERE, "B107": _ELSEWHERE,
    "B108": "make it with tempfile.mkstemp() or tempfile.TemporaryDirectory()",
    "B110": "catch the exception that is expected, and log it or say why it does not matter",
    "B112": "catch the exception that is expected, and log it or say why it does not matter",
    "B113": "pass timeout= (seconds)",
    "B201": "switch debug off, or on by a setting of the developer's machine alone: the debugger runs any code",
    "B202": "pass filter='data' to extractall, or check every member's path before",
    "B301": _DATA, "B302": _DATA,
    "B303": "use hashlib.sha256, and for passwords scrypt or argon2",
    "B304": _CIPHER, "B305": _CIPHER,
    "B306": "use tempfile.mkstemp() or NamedTemporaryFile(), which also create the file",
    "B307": "use ast.literal_eval for values, a table of functions for names",
    "B308": _ESCAPED,
    "B310": "check that the address begins with https:// before it is opened: file:// is opened as well",
    "B311": "for tokens, passwords and keys use the `secrets` module; for games and samples it is right as it is",
    "B312": _NOT_PLAIN,
    **dict.fromkeys(("B313", "B314", "B315", "B316", "B317", "B318", "B319"), _SAFE_XML),
    "B320": "parse with lxml.etree.XMLParser(resolve_entities=False, no_network=True)",
    "B321": _NOT_PLAIN,
    "B323": _TLS,
    "B324": "use hashlib.sha256; where it protects nothing, pass usedforsecurity=False",
    "B401": _NOT_PLAIN, "B402": _NOT_PLAIN,
    "B403": _DATA,
    "B404": "nothing, where every call passes a list of arguments and no shell",
    **dict.fromkeys(("B405", "B406", "B407", "B408", "B409", "B410"), _SAFE_XML),
    "B411": "call defusedxml.xmlrpc.monkey_patch() first",
    "B412": "do not let a request's Proxy header set HTTP_PROXY: serve by WSGI instead of CGI",
    "B413": "use `cryptography`, or pycryptodome: pyCrypto is no longer mended",
    "B415": "reach the management interface through a network of its own, or use redfish over https",
    "B501": "leave verify at True; for a certificate of your own, pass the path of its authority: verify='ca.pem'",
    "B502": _TLS, "B503": _TLS, "B504": _TLS,
    "B505": "make RSA and DSA keys of 3072 bits or more, or use Ed25519",
    "B506": "use yaml.safe_load",
    "B507": "load known hosts and set paramiko.RejectPolicy()",
    "B508": "use SNMPv3: UsmUserData instead of CommunityData",
    "B509": "give UsmUserData both keys, for authentication and for privacy",
    "B601": "quote what comes from outside with shlex.quote before it is sent to the other machine's shell",
    "B602": _ARGUMENTS, "B604": _ARGUMENTS, "B605": _ARGUMENTS,
    "B603": "nothing, where no part of the list can be chosen from outside; else check it against what is allowed",
    "B606": _SHELL_LESS, "B607": _SHELL_LESS,
    "B608": _BOUND, "B610": _BOUND, "B611": _BOUND,
    "B609": "expand the pattern with glob.glob, put ./ before each name, and call the program without a shell",
    "B612": "pass verify= to logging.config.listen and check a signature there: what is sent is evaluated",
    "B613": "remove the invisible characters that change the direction of the text",
    "B614": "pass weights_only=True, or load safetensors",
    "B615": "pass revision= with a commit's hash",
    "B701": "pass autoescape=True, or select_autoescape()",
    "B702": "pass default_filters=['h'] to the template",
    "B703": _ESCAPED, "B704": "pass only constant text to Markup; give values to Markup(...).format(value)",
}  # fmt: skip

_NAMES = """
    B101_assert_used B102_exec_used B103_set_bad_file_permissions B104_hardcoded_bind_all_interfaces
    B105_hardcoded_password_string B106_hardcoded_password_funcarg B107_hardcoded_password_default
    B108_hardcoded_tmp_directory B110_try_except_pass B112_try_except_continue B113_request_without_timeout
    B201_flask_debug_true B202_tarfile_unsafe_members B324_hashlib_insecure_functions
    B501_request_with_no_cert_validation B502_ssl_with_bad_version B503_ssl_with_bad_defaults B504_ssl_with_no_version
    B505_weak_cryptographic_key B506_yaml_load B507_ssh_no_host_key_verification B508_snmp_insecure_version
    B509_snmp_weak_cryptography B601_paramiko_calls B602_subprocess_popen_with_shell_equals_true
    B603_subprocess_without_shell_equals_true B604_any_other_function_with_shell_equals_true
    B605_start_process_with_a_shell B606_start_process_with_no_shell B607_start_process_with_partial_path
    B608_hardcoded_sql_expressions B609_linux_commands_wildcard_injection B610_django_extra_used B611_django_rawsql_used
    B612_logging_config_insecure_listen B613_trojansource B614_pytorch_load B615_huggingface_unsafe_download
    B701_jinja2_autoescape_false B702_use_of_mako_templates B703_django_mark_safe B704_markupsafe_markup_xss
"""
_PAGES = {name[:4]: name[5:] for name in _NAMES.split()}
_LISTS = {"B3": "blacklists/blacklist_calls.html", "B4": "blacklists/blacklist_imports.html"}


def what_to_do(rule: str) -> str:
    """For a number of bandit (B307) or of ruff (S307); empty where neither has such a test."""
    return _WHAT_TO_DO.get(f"B{rule[1:]}", "")


def address(rule: str) -> str:
    """The page on it: bandit's, or that of all of ruff's where bandit has no such test."""
    test = f"B{rule[1:]}"
    if test in _PAGES:
        return f"{_ADDRESS}plugins/{test.lower()}_{_PAGES[test]}.html"
    if test in _WHAT_TO_DO:
        return _ADDRESS + _LISTS[test[:2]]
    return "https://docs.astral.sh/ruff/rules/#flake8-bandit-s"


def mend(rule: str) -> str:
    """What to do, with the address."""
    advice = what_to_do(rule)
    return f"{advice} ({address(rule)})" if advice else f"see {address(rule)}"
