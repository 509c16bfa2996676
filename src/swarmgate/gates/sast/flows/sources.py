"""Recognises the sources of outside input in Python programs, by the names of web frameworks.

Kinds: `web` (a request), `local` (a terminal, a socket), `argv` (the program's arguments), `random` (a predictable
generator), `download` (another server's answer), `trace` (a stack trace), `document` (JSON of a request, so not only
text), `parameter` (an argument of a function whose callers are not known).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows.values import Text
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


REQUEST = re.compile(r"^(?!.*urllib)(.*\.)?(request|req|http_request|flask_request)$")
"""A dotted name of the request that is being answered."""

_WEB = _words(
    "args form forms values json headers cookies files data get_data get_json query_string full_path url base_url path "
    "view_args environ stream GET POST META COOKIES FILES body query_params path_params match_info matchdict query "
    "params get_full_path build_absolute_uri get_raw_uri rel_url referrer user_agent authorization text post multipart "
    "input_stream get_cookie get_header get_param media arguments raw_post_data content body_arguments "
    "query_arguments uri read remote_user scope REQUEST"
)
OWN_ADDRESS = _words("path full_path url base_url get_full_path build_absolute_uri get_raw_uri rel_url uri")
"""Attributes of a request that name this server itself: a redirect there stays."""
_WEB_CALLS = _words(
    "get_argument get_arguments get_query_argument get_query_arguments get_body_argument get_body_arguments get_cookie "
    "get_secure_cookie"
)
_CGI = re.compile(r"^(QUERY_STRING|PATH_INFO|REQUEST_URI|HTTP_.*)$")
_ACCESSOR = re.compile(
    r"(?i)^(?!.*(safe|clean|sanit|escaped|valid)).*(param|form|query|header|cookie|arg|input|body|field|value)"
)
_RANDOM = re.compile(
    r"^(random\.(random|randint|randrange|choice|choices|sample|uniform|getrandbits|randbytes|\w+variate|triangular|gauss)"
    r"|(numpy|np)\.random\.\w+|uuid\.uuid1)$"
)
_LOCAL = re.compile(r"^(input|raw_input|sys\.stdin\.(read|readline|readlines))$|\.(recv|recvfrom)$")
_DOWNLOAD = re.compile(r"^(requests|httpx)\.(get|post|put|request)$|^urllib\.request\.urlopen$")
_TRACE = re.compile(r"^traceback\.format_(exc|exception|tb|stack)$")

_ROUTES = _words("route get post put patch delete head options api_route websocket view_config view")
_METHODS = _words("get post put patch delete head options dispatch prepare")
_HARMLESS = re.compile(
    r"^(Optional\[)?(int|float|bool|UUID|uuid\.UUID|datetime(\.\w+)?|date|Decimal|Enum|Request|Response|WebSocket"
    r"|BackgroundTasks|\w*Session|\w*Connection|\w*Service|\w*Settings|\w*Repository|\w*Enum|Literal.*)\b|Depends\(|Security\("
)
_NOT_INPUT = _words(
    "self cls request req db session conn connection cursor response background_tasks settings current_user user form "
    "queryset obj next_handler call_next context environ start_response app client"
)
_NAMES = _words(
    "self cls request req table tablename table_name column columns col field fields schema limit offset order "
    "order_by sql query stmt statement conn connection cursor cur db event cmd command args argv script"
)
_VIEWS = re.compile(r"RequestHandler|Resource\b|MethodView|HTTPEndpoint|APIView")
_ANSWER = re.compile(r"(Response|Redirect\w*|[Rr]edirect|render|render_to_response|jsonify|get_object_or_404)$")


_PRESENT = {
    "web": re.compile(
        r"request|\breq\b|environ|getenv|FieldStorage|cgi\.|get_\w*argument|get_\w*cookie|, context\)"
        r"|@\w[\w.]*\.(route|get|post|put|patch|delete|head|options|api_route|websocket|view_config|view)\("
        r"|RequestHandler|Resource\b|MethodView|HTTPEndpoint|APIView"
    ),
    "local": re.compile(r"input\(|stdin|recv"),
    "argv": re.compile(r"argv"),
    "document": re.compile(r"json"),
    "random": re.compile(r"random|uuid1"),
    "download": re.compile(r"requests|httpx|urlopen"),
    "trace": re.compile(r"format_(exc|exception|tb|stack)"),
    "parameter": re.compile(r"def "),
}


def present(kind: str, text: str) -> bool:
    """Whether a file may have a source of a kind, by its words."""
    return _PRESENT[kind].search(text) is not None


def of_attribute(holder: str, attribute: str, line: int) -> Text | None:
    """`holder.attribute` where that is outside input."""
    if attribute in _WEB and REQUEST.match(holder):
        kinds = ("web", "document") if attribute in {"json", "get_json"} else ("web",)
        return Text(frozenset((kind, line) for kind in kinds))
    if f"{holder}.{attribute}" == "sys.argv":
        return Text(frozenset({("argv", line)}))
    return None


_OF_JSON = re.compile(r"^(?:fastapi|litestar|starlite|ninja|flask_restful|flask_restx|blacksheep|robyn)\b")


def of_call(name: str, first: object, line: int) -> Text | None:
    """The value of a call of another module's function; `first` is its first argument."""
    last = name.rpartition(".")[2]
    kind = ""
    if _RANDOM.match(name):
        kind = "random"
    elif _LOCAL.search(name):
        kind = "local"
    elif _DOWNLOAD.match(name):
        kind = "download"
    elif _TRACE.match(name):
        kind = "trace"
    elif last in _WEB_CALLS or name in {"cgi.FieldStorage", "cgi.parse"} or _is_cgi(name, first):
        kind = "web"
    return Text(frozenset({(kind, line)})) if kind else None


def is_cgi_variable(name: object) -> bool:
    """Whether an environment variable holds a part of a request."""
    return isinstance(name, str) and _CGI.match(name) is not None


def reads_request(method: str) -> bool:
    """Whether a function or method of this name, given the request, returns a part of it."""
    return _ACCESSOR.search(method) is not None


def has_fixed_path(function: _FunctionNode) -> bool:
    """Whether every route of the function is one literal path, without a part that the client chooses."""
    routes = [each for each in function.decorator_list if isinstance(each, ast.Call) and has_route_name(each.func)]
    paths = [each.args[0].value if each.args and isinstance(each.args[0], ast.Constant) else None for each in routes]
    return bool(paths) and all(isinstance(path, str) and not set("<{*:") & set(path) for path in paths)


def answers_with_page(function: _FunctionNode, bases: str, imported: Iterable[str]) -> bool:
    """Whether what the function returns is sent as a page as it is: a route, a view class's method, WSGI.

    Frameworks that are made for JSON write it out as such, where no decorator names a class of pages.
    """
    if not any("HTMLResponse" in ast.unparse(each) for each in function.decorator_list) and any(
        _OF_JSON.match(name) for name in imported
    ):
        return False
    names = [arg.arg for arg in function.args.args]
    wsgi = names[-2:] == ["environ", "start_response"]
    return has_route(function) or wsgi or ("MethodView" in bases and function.name in _METHODS)


def has_route(function: _FunctionNode) -> bool:
    """Whether a decorator binds the function to a path."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else None
        if called is not None and (has_route_name(called) or getattr(called, "id", "") == "api_view"):
            return True
    return False


def has_route_name(called: ast.expr) -> bool:
    """Whether a decorator is called like one that binds to a path."""
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in _ROUTES


def parameters(function: _FunctionNode, bases: str | None) -> Iterator[tuple[ast.arg, str]]:
    """Each parameter with the kind of source that it is: `web`, `parameter`, or empty.

    Args:
        function: the function.
        bases: the names of the bases of its class, None for a function that is no method.
    """
    spec = function.args
    given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    defaults = dict(zip(reversed([*spec.posonlyargs, *spec.args]), reversed(spec.defaults), strict=False))
    defaults.update((arg, each) for arg, each in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if each)
    if bases is None:
        view = _first_is_request(function) and _answers(function)
    else:
        view = function.name in _METHODS and (_first_is_request(function) or _VIEWS.search(bases) is not None)
    routed = view or has_route(function)
    event = len(given) == 2 and given[1].arg == "context" and bases is None  # noqa: PLR2004 - AWS: (event, context)
    for arg in given:
        hint = ast.unparse(arg.annotation) if arg.annotation else ""
        default = ast.unparse(defaults[arg]) if arg in defaults else ""
        harmless = bool(_HARMLESS.search(hint) or _HARMLESS.search(default) or "Depends(" in hint)
        if arg.arg not in _NOT_INPUT and not harmless and (routed or (event and arg is given[0])):
            yield arg, "web"
        else:
            yield arg, "" if arg.arg in _NAMES or harmless else "parameter"


def _first_is_request(function: _FunctionNode) -> bool:
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)][:2]
    return bool(names) and "request" in names[: 2 if names[0] == "self" else 1]


def _answers(function: _FunctionNode) -> bool:
    """Whether something that the function returns is named like a response."""
    returns = (node.value for node in python_tree.walk(function) if isinstance(node, ast.Return))
    calls = (each.func for each in returns if isinstance(each, ast.Call))
    return any(_ANSWER.search(ast.unparse(each)) for each in calls)


def _is_cgi(name: str, first: object) -> bool:
    return name in {"os.environ.get", "os.getenv", "environ.get", "os.environ"} and is_cgi_variable(first)
