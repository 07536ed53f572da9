"""What Python code can do to the machine that runs it, from its syntax tree, under any name.

from os import system as s; s(x)                 os.system
getattr(__import__("o" + "s"), "system")(x)      os.system
map(eval, lines)                                 eval, although it is not called here
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from stet_ls.engine.judges.danger.python_expressions import ExpressionRisks
from stet_ls.engine.judges.danger.risk_kinds import (
    CODE,
    DATA,
    DELETES,
    INSIDE,
    INSTALLS,
    LINKS,
    NATIVE,
    NETWORK,
    OUTSIDE,
    PROCESS,
    SECRETS,
    TESTS,
    Risk,
)
from stet_ls.validators.ast_text import parse_module, unparse

# What a dotted name does, whether it is called or only passed on.
_NAMES: Mapping[str, re.Pattern[str]] = {
    PROCESS: re.compile(
        r"subprocess\.\w+|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|fork\w*|startfile)|pty\.(?:spawn|fork)"
        r"|asyncio\.(?:subprocess\.)?create_subprocess_\w+|asyncio\.\w+_loop\.subprocess_\w+|multiprocessing(?:\.\w+)+|commands\.\w+|popen2\.\w+|pexpect\.\w+"
        r"|sh\.\w+|plumbum\.\w+|invoke\.run|fabric\.\w+|_posixsubprocess\.\w+|posix\.(?:system|popen|exec\w+|fork\w*)"
    ),
    CODE: re.compile(
        r"(?:builtins\.)?(?:eval|exec|compile|__import__)|importlib\.(?:import_module|__import__|reload"
        r"|util\.\w+|machinery\.\w+|_\w+\.\w+)|pkgutil\.resolve_name|pydoc\.(?:locate|resolve|safeimport|importfile)"
        r"|logging\.config\.listen|doctest\.(?:run_\w+|test\w+|DocTestRunner|debug\w*)|readline\.read_init_file"
        r"|(?:unittest\.\w+\.|unittest\.)?defaultTestLoader\.loadTestsFromNames?"
        r"|runpy\.\w+|code\.(?:interact|Interactive\w+)|codeop\.\w+|types\.(?:FunctionType|CodeType)|imp\.\w+"
        r"|zipimport\.\w+"
        r"|timeit\.(?:timeit|repeat|Timer)|cProfile\.run|pdb\.run\w*|execfile|input_eval"
    ),
    NETWORK: re.compile(
        r"(?:_?socket|_?ssl|socketserver|requests|httpx2?|aiohttp|urllib3|http\.(?:client|server)|ftplib|smtplib"
        r"|poplib|imaplib"
        r"|nntplib|telnetlib|paramiko|websockets?|asyncssh|xmlrpc|grpc|pycurl|zmq|boto3?|botocore|dns|scapy"
        r"|twisted)(?:\.\w+)+"
        r"|urllib\.request\.\w+|logging\.handlers\.(?:HTTP|Socket|Datagram|SMTP|SysLog)Handler"
        r"|asyncio\.\w+_loop\.(?:create_(?:connection|server|datagram_endpoint|unix_\w+)|sock_\w+)|asyncio\.(?:open_connection|start_server|open_unix_connection)|webbrowser\.\w+"
    ),
    DATA: re.compile(
        r"(?:pickle|cPickle|_pickle|dill|cloudpickle|marshal|joblib|shelve|jsonpickle)\.(?:loads?|open"
        r"|Unpickler|decode)"
        r"|yaml\.(?:unsafe_load\w*|full_load\w*|load|load_all|UnsafeLoader|Loader)|numpy\.load|torch\.load"
        r"|pandas\.read_pickle"
    ),
    NATIVE: re.compile(r"(?:ctypes|cffi|_ctypes)\.\w+(?:\.\w+)*|os\.memfd_create|mmap\.PROT_EXEC"),
    DELETES: re.compile(
        r"shutil\.(?:rmtree|move)|os\.(?:remove|unlink|rmdir|removedirs|truncate)|pathlib\.\w*Path\.(?:unlink|rmdir)"
        r"|send2trash\.\w+"
    ),
    INSIDE: re.compile(
        r"sys\.(?:settrace|setprofile|_getframe\w*|_current_\w+|modules|meta_path|path_hooks|path_importer_cache"
        r"|addaudithook|monitoring(?:\.\w+)*)|gc\.get_\w+|threading\.set(?:trace|profile)\w*"
        r"|inspect\.(?:currentframe|stack|trace|getouterframes|getinnerframes)"
        r"|traceback\.(?:extract_stack|walk_stack|print_stack|format_stack)|__debug__"
    ),
    TESTS: re.compile(r"_pytest(?:\.\w+)*|pluggy(?:\.\w+)*|unittest\.mock\.\w+|linecache\.\w+"),
    OUTSIDE: re.compile(r"os\.path\.expand(?:user|vars)|pathlib\.\w*Path\.(?:home|expanduser)|pwd\.getpw\w+"),
    SECRETS: re.compile(r"(?:keyring|browser_cookie3|secretstorage|win32cred|netrc)(?:\.\w+)+|spwd\.\w+"),
    INSTALLS: re.compile(r"(?:pip|ensurepip|setuptools\.command|conda\.cli)(?:\.\w+)+"),
    LINKS: re.compile(r"(?:os|posix)\.(?:symlink|link|l?chmod|fchmod|[lf]?chown|mkfifo|mknod|umask)|shutil\.chown"),
}  # fmt: skip
_MODULES: Mapping[str, re.Pattern[str]] = {
    PROCESS: re.compile(r"subprocess|pty|multiprocessing|pexpect|popen2|commands|_posixsubprocess"),
    NETWORK: re.compile(
        r"_?socket|socketserver|antigravity|requests|httpx2?|aiohttp|urllib3|urllib\.request|http\.(?:client|server)|ftplib"
        r"|smtplib|poplib"
        r"|imaplib|telnetlib|paramiko|websockets?|asyncssh|pycurl|xmlrpc(?:\.\w+)?|webbrowser"
    ),
    DATA: re.compile(r"pickle|cPickle|dill|cloudpickle|marshal|shelve"),
    NATIVE: re.compile(r"ctypes|cffi|_ctypes"),
    CODE: re.compile(r"runpy|imp|codeop"),
    TESTS: re.compile(r"_pytest(?:\.\w+)*|pluggy|__main__"),
    INSTALLS: re.compile(r"pip|ensurepip"),
}
# Methods that are risky on any object.
_METHODS: Mapping[str, re.Pattern[str]] = {
    DELETES: re.compile(r"unlink|rmtree|rmdir"),
    INSIDE: re.compile(
        r"__subclasses__|__globals__|__builtins__|__code__|__getattribute__|f_globals|f_locals|f_back|f_code"
        r"|tb_frame|[gc][ir]_frame|ag_frame|load_module|exec_module|__loader__"
    ),
    DATA: re.compile(r"__reduce(?:_ex)?__|__setstate__"),
    NATIVE: re.compile(r"(?:enable_)?load_extension"),
}
_GETTERS = ("operator.attrgetter", "operator.methodcaller")
_LOOPS = re.compile(r"asyncio\.(?:get|new)_\w*loop")
_DYNAMIC = re.compile(r"(?:os|sys|builtins|__builtins__|subprocess|socket|shutil|posix|importlib|ctypes)\b.*")


@lru_cache(maxsize=8)
def risks(text: str) -> tuple[Risk, ...] | None:
    """The risks of a text, in its order; None if it is not valid Python."""
    try:
        tree = parse_module(text)
        found = _Names()
        # Twice: a function may use names that the module binds below it.
        for _ in range(2):
            found.bind(tree)
        return (*found.of(tree), *dict.fromkeys(ExpressionRisks(tree, found.name, _text).risks()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Names:
    """What the names of a text refer to."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def bind(self, tree: ast.AST) -> None:
        """Records imports, and names that are assigned what another name refers to."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self.known[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.known[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._give(node.targets[0], node.value)
            elif isinstance(node, ast.NamedExpr | ast.AnnAssign) and isinstance(node.target, ast.Name):
                self._give(node.target, node.value)

    def _give(self, target: ast.Name, value: ast.expr | None) -> None:
        if value is not None and (name := self.name(value)) and self._is_listed(name):
            self.known[target.id] = name

    @staticmethod
    def _is_listed(name: str) -> bool:
        tables = (*_NAMES.values(), *_MODULES.values(), _DYNAMIC, _LOOPS)
        return any(table.fullmatch(name) for table in tables)

    def of(self, tree: ast.AST) -> Iterator[Risk]:
        """The risks of a tree. A part of a longer name is not reported again."""
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._imported(node)
            elif isinstance(node, ast.FunctionDef) and _METHODS[DATA].fullmatch(node.name):
                yield DATA, node.name
            elif isinstance(node, ast.expr):
                yield from self._used(node, whole=id(node) not in inner)

    def _used(self, node: ast.expr, *, whole: bool) -> Iterator[Risk]:
        if isinstance(node, ast.Attribute):
            yield from ((what, _shown(node)) for what, look in _METHODS.items() if look.fullmatch(node.attr))
        if not whole or isinstance(getattr(node, "ctx", None), ast.Store):
            return
        name = self.name(node)
        if name is None or isinstance(node, ast.Constant):
            return
        for what, look in _NAMES.items():
            if look.fullmatch(name):
                yield what, name.removeprefix("builtins.")
        if name.endswith(".?"):
            yield INSIDE, name.removesuffix(".?")

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Risk]:
        base = f"{node.module or ''}" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            full = f"{base}.{alias.name}" if base else alias.name
            for what in dict.fromkeys((*_NAMES, *_MODULES)):
                module = next(
                    (name for name in (base, full) if what in _MODULES and _MODULES[what].fullmatch(name)), None
                )
                if module or (base and what in _NAMES and _NAMES[what].fullmatch(full)):
                    yield what, module or full

    def name(self, node: ast.expr) -> str | None:
        """The dotted name that an expression refers to, as far as known statically; ".?" ends one built at run time."""
        match node:
            case ast.Name(id=name):
                return self.known.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                return _joined(self.name(value), attr)
            case ast.Call(func=ast.Call(func=func, args=[made, *_]), args=[base]) if self.name(func) in _GETTERS:
                return self._called("getattr", [base, made])
            case ast.Call(func=func, args=args):
                return self._called(self.name(func), args)
            case ast.Subscript(value=value, slice=index):
                return self._item(self.name(value), _text(index))
        return None

    def _called(self, function: str | None, args: list[ast.expr]) -> str | None:
        if function in ("__import__", "builtins.__import__", "importlib.import_module") and args:
            return _text(args[0]) or function
        if function in ("getattr", "builtins.getattr") and len(args) > 1:
            base = self.name(args[0])
            if attr := _text(args[1]):
                return _joined(base, attr)
            return f"{base}.?" if base and _DYNAMIC.fullmatch(base) else None
        if function in ("vars", "builtins.vars") and args:
            return _joined(self.name(args[0]), "__dict__")
        return function if function in ("globals", "locals") or _LOOPS.fullmatch(function or "") else None

    @staticmethod
    def _item(base: str | None, key: str | None) -> str | None:
        if base in ("sys.modules", "globals", "locals"):
            return "builtins" if key == "__builtins__" else key
        if base == "__builtins__" or (base or "").endswith(".__dict__"):
            return _joined((base or "").removesuffix(".__dict__").replace("__builtins__", "builtins"), key or "?")
        return None


_LAST_LETTER = 0x110000


def _joined(base: str | None, attr: str) -> str | None:
    return None if base is None else f"{base.replace('__builtins__', 'builtins')}.{attr}"


def _text(node: ast.expr) -> str | None:
    """The text that an expression of literals evaluates to."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _text(left), _text(right)
            return None if first is None or second is None else first + second
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(joint)), attr="join"),
            args=[ast.List() | ast.Tuple() as given],
        ):
            texts = [_text(each) for each in given.elts]
            return None if None in texts else joint.join(filter(None, texts))
        case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int(number))]) if 0 <= number < _LAST_LETTER:
            return chr(number)
        case ast.JoinedStr(values=values):
            parts = [_text(part.value if isinstance(part, ast.FormattedValue) else part) for part in values]
            return None if None in parts else "".join(filter(None, parts))
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp())):
            whole = _text(value)  # "metsys"[::-1]
            return None if whole is None else whole[::-1]
    return None


def _shown(node: ast.Attribute) -> str:
    text = unparse(node)
    return text if len(text) <= 60 else f"….{node.attr}"
