"""Risk tables of the languages whose calls and imports are searched as text.

A name is searched in the code without comments and literals, under the names that imports give it; modules and
text-built names are searched in imports and calls as written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.engine.judges.danger.risk_kinds import (
    CODE,
    DATA,
    DELETES,
    ENVIRONMENT,
    INSIDE,
    INSTALLS,
    LINKS,
    NATIVE,
    NETWORK,
    OUTSIDE,
    PERSISTS,
    PROCESS,
    SECRETS,
    TESTS,
)


@dataclass(frozen=True, slots=True)
class RiskTable:
    """The risks of a language. `names` are searched in code, `uses` in whole calls and imports.

    `aliases` match the name under which something is imported: the groups "module" and "names", or "module" and
    "alias". `joint` separates the names of a path.
    """

    names: Mapping[str, re.Pattern[str]]
    uses: Mapping[str, re.Pattern[str]]
    aliases: tuple[re.Pattern[str], ...] = ()
    joint: str = "."


def _names(**looks: str) -> Mapping[str, re.Pattern[str]]:
    return {_WHAT[what]: re.compile(rf"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.))(?:{look})") for what, look in looks.items()}


def _uses(**looks: str) -> Mapping[str, re.Pattern[str]]:
    return {_WHAT[what]: re.compile(look) for what, look in looks.items()}


_WHAT = {
    "process": PROCESS, "code": CODE, "network": NETWORK, "data": DATA, "native": NATIVE, "deletes": DELETES,
    "inside": INSIDE, "outside": OUTSIDE, "secrets": SECRETS, "environment": ENVIRONMENT, "installs": INSTALLS,
    "links": LINKS, "tests": TESTS, "persists": PERSISTS,
}  # fmt: skip

ECMASCRIPT = RiskTable(
    _names(
        outside=r"os\.homedir\b|process\.env\.(?:HOME|USERPROFILE|APPDATA)\b",
        environment=r"process\.env\b(?!\s*(?:\?\.|[.\[]))|Deno\.env\.toObject|Bun\.env\b(?!\s*[.\[])",
        secrets=r"process\.env\.\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIAL)\w*|keytar\.\w+",
        persists=r"process\.env\.(?:NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PATH|BASH_ENV|GIT_\w+)\s*=(?!=)",
        links=r"(?:fs|fsPromises|fsp|promises)(?:\.promises)?\.(?:symlink|link|l?chmod|fchmod|[lf]?chown)(?:Sync)?\b|Deno\.(?:chmod|chown|symlink|link)\w*",
        tests=r"Error\.(?:prepareStackTrace|captureStackTrace)|new Error\([^()]*\)\.stack"
        r"|process\.env\.NODE_TEST_CONTEXT|(?:assert|expect|test|it)(?:\.\w+)+\s*=(?![=>])|Object\.(?:assign|defineProperty)\(\s*(?:assert|expect|test|globalThis)\b"
        r"|process\.(?:reallyExit|exit|emit|on)\s*=(?![=>])|require\.cache",
        code=r"(?:window\.|globalThis\.|self\.|global\.)?(?:eval|Function|importScripts"
        r"|execScript)\b(?=\s*(?:[(,)\];.`]|\?\.)|\s*$)"
        r"|new Worker\b|vm\.\w+|document\.write(?:ln)?\b|setTimeout\(\s*[`\"']|setInterval\(\s*[`\"']"
        r"|require\.extensions",
        process=r"child_process(?:\.\w+)?|process\.(?:binding|dlopen|kill)\b|cluster\.fork|Deno\.(?:Command"
        r"|run)|Bun\.(?:spawn\w*|\$)"
        r"|execa\w*|shelljs\.\w+|worker_threads\.\w+",
        network=r"(?:window\.|globalThis\.|self\.|global\.)?(?:fetch|XMLHttpRequest|WebSocket|EventSource|WebTransport"
        r"|RTCPeerConnection)\b(?=\s*(?:[(,)\];.]|\?\.)|\s*$)|navigator\.sendBeacon|(?:https?|http2|net|dgram|tls"
        r"|dns)\.\w+|axios(?:\.\w+)?"
        r"|(?:\$|jQuery)\.(?:ajax|get|post|getJSON|getScript)|got\b(?=\s*[(.])|undici\.\w+|superagent\.\w+"
        r"|Deno\.(?:connect|listen)\w*"
        r"|new Image\b",
        deletes=r"(?:fs|fsPromises|fsp|promises)(?:\.promises)?\.(?:rm|rmdir|unlink|truncate)(?:Sync)?\b"
        r"|rimraf\w*|Deno\.remove\w*"
        r"|fs\.(?:remove|emptyDir)(?:Sync)?\b|del\.sync",
        native=r"process\.dlopen|WebAssembly\.\w+|ffi\.\w+",
        inside=r"__proto__|process\.mainModule",
    ),
    _uses(
        process=r"(?:.*['\"`](?:node:)?(child_process|cluster|worker_threads|execa|shelljs|cross-spawn)['\"`])",
        network=r"(?:.*['\"`](?:node:)?(https?|http2|net|dgram|tls|dns|axios|node-fetch|undici|got|ws"
        r"|superagent|request)['\"`])",
        code=r"(?:.*['\"`](?:node:)?(vm|vm2|module)['\"`])|(?:new)?(Function)\("
        r"|.*\.(constructor)(?:\.constructor)?\(['\"`]"
        r"|(require|import)\((?!['\"`](?!data:)[^'\"`]*['\"`]\s*[,)])",
        deletes=r"(?:.*['\"`](rimraf|del|trash)['\"`])",
        outside=r".*(?:fs|fsp|fsPromises|promises|File|path)\.\w+\(\s*['\"`]((?:\.\.?/)*\.\./|~/|/(?!dev/null))",
        tests=r"(?:.*['\"`](?:node:)?(test|test/reporters|inspector)['\"`])",
        persists=r".*\.(?:write|append)File\w*\(\s*['\"`](?:[^'\"`]*/)?(package\.json|Makefile)['\"`]",
        native=r"(?:.*['\"`](ffi-napi|ref-napi|koffi|bindings|node-gyp-build)['\"`])",
    ),
    (
        re.compile(r"import\s*(?:[\w$]+\s*,\s*)?\{(?P<names>[^{}]{0,600})\}\s*from\s*['\"](?:node:)?(?P<module>[\w/@-]+)['\"]"),
        re.compile(r"import\s*(?:\*\s*as\s+)?(?P<alias>[\w$]+)\s*(?:,[^;'\"]{0,300})?from\s*['\"](?:node:)?(?P<module>[\w/@-]+)['\"]"),
        re.compile(r"\{(?P<names>[^{}]{0,600})\}\s*=\s*(?:await\s+)?(?:require|import)\(\s*['\"](?:node:)?(?P<module>[\w/@-]+)['\"]"),
        re.compile(r"(?P<alias>[\w$]+)\s*=\s*(?:await\s+)?(?:require|import)\(\s*['\"](?:node:)?(?P<module>[\w/@-]+)['\"]"),
        re.compile(r"\{(?P<names>[^{}]{0,600})\}\s*=\s*(?P<module>fs|child_process|http|https|net|vm|process|globalThis|window)\b"),
        re.compile(r"(?:const|let|var)\s+(?P<alias>[\w$]+)\s*=\s*(?P<module>(?:fs|fs\.promises|child_process|http|https|net|vm|eval|fetch|Function|globalThis|window)(?:\.\w+)?)\s*(?:;|,|\n|$)"),
    ),
)  # fmt: skip

GO = RiskTable(
    _names(
        outside=r"os\.UserHomeDir|user\.Current|os\.UserConfigDir",
        environment=r"os\.Environ\b",
        links=r"os\.(?:Symlink|Link|Chmod|L?[Cc]hown)|syscall\.(?:Chmod|Chown|Symlink|Link)",
        tests=r"runtime\.(?:Caller|Callers|CallersFrames|Stack)|testing\.Testing|debug\.Stack",
        process=r"exec\.(?:Command\w*|LookPath)|os\.StartProcess|syscall\.(?:Exec|ForkExec|StartProcess)",
        network=r"http\.(?:Get|Post\w*|Head|Client|DefaultClient|NewRequest\w*|ListenAndServe\w*)"
        r"|net\.(?:Dial\w*|Listen\w*|Lookup\w*)"
        r"|tls\.Dial\w*|rpc\.Dial\w*|smtp\.\w+|websocket\.Dial\w*|grpc\.(?:Dial|NewClient)",
        deletes=r"os\.(?:Remove|RemoveAll|Truncate)|syscall\.(?:Unlink|Rmdir)",
        code=r"plugin\.Open|goja\.New|otto\.New",
        data=r"gob\.NewDecoder",
        native=r"unsafe\.\w+|syscall\.(?:Syscall\w*|RawSyscall\w*|Mmap)|C\.\w+",
    ),
    _uses(
        process=r".*\"(os/exec)\"",
        network=r".*\"(net|net/http|net/rpc|net/smtp|crypto/tls|golang\.org/x/net/\w+)\"",
        native=r".*\"(unsafe|C)\"",
        code=r".*\"(plugin)\"",
    ),
    (re.compile(r"(?m)^\s*(?:import\s+)?(?P<alias>\w+)\s+\"(?:[\w./-]*/)?(?P<module>\w+)\""),),
)  # fmt: skip

RUST = RiskTable(
    _names(
        outside=r"(?:std::)?env::home_dir|(?:dirs|home|directories)::\w+",
        environment=r"(?:std::)?env::vars(?:_os)?\b",
        links=r"(?:std::)?(?:os::unix::)?fs::(?:symlink|hard_link|set_permissions|chown)|PermissionsExt\b",
        process=r"(?:(?:std::)?process::)?Command::new|(?:tokio::)?process::Command|libc::(?:system|exec\w+"
        r"|fork)|nix::unistd::(?:fork|exec\w+)|duct::\w+",
        network=r"(?:std::net::|tokio::net::)?(?:TcpStream|TcpListener|UdpSocket|UnixStream)::\w+|(?:reqwest"
        r"|ureq|hyper|isahc|surf|attohttpc"
        r"|curl|tungstenite|ssh2|lettre)::[\w:]+",
        deletes=r"(?:std::|tokio::)?fs::remove_\w+|remove_(?:file|dir|dir_all)\b(?=\s*\()",
        native=r"libloading::\w+|libc::\w+|transmute\b|unsafe\b(?=\s*(?:\{|fn|impl))|asm!",
        code=r"include!|rhai::\w+|mlua::\w+",
    ),
    _uses(
        process=r"(?:pub )?use .*?(process::(?:\{.*)?Command)",
        network=r"(?:pub )?use .*?((?:std|tokio)::net|reqwest|ureq|hyper|tungstenite)",
        deletes=r"(?:pub )?use .*?(fs::(?:\{.*)?remove_\w+)",
        native=r"(?:pub )?use .*?(libc|libloading)",
    ),
    (
        re.compile(r"use\s+(?P<module>[\w:]+)::\{(?P<names>[^{}]{0,600})\}"),
        re.compile(r"use\s+(?P<module>[\w:]+)\s+as\s+(?P<alias>\w+)"),
    ),
    joint="::",
)  # fmt: skip

JVM = RiskTable(
    _names(
        outside=r"System\.getProperty\(\s*\"user\.home",
        environment=r"System\.getenv\(\s*\)",
        links=r"(?:java\.nio\.file\.)?Files\.(?:create(?:Symbolic)?Link|setPosixFilePermissions|setOwner)",
        tests=r"(?:new )?(?:Throwable|Exception)\(\)\.getStackTrace|StackWalker\.\w+"
        r"|Thread\.currentThread\(\)\.getStackTrace",
        process=r"(?:java\.lang\.)?Runtime\.getRuntime|(?:new )?(?:java\.lang\.)?ProcessBuilder\b|ProcessHandle\.\w+",
        network=r"(?:new )?(?:java\.net\.)?(?:URL|ServerSocket|Socket|DatagramSocket)\b(?=\s*\()|HttpClient\b"
        r"|HttpRequest\b|HttpURLConnection\b"
        r"|URI\.create\([^)]*\)\.toURL|OkHttpClient\b|RestTemplate\b|WebClient\b|HttpClients\.\w+"
        r"|Jsoup\.connect|SocketChannel\.open",
        deletes=r"(?:java\.nio\.file\.)?Files\.(?:delete|deleteIfExists)|FileUtils\.(?:delete\w*|forceDelete"
        r"|cleanDirectory)",
        code=r"ScriptEngine\w*|Class\.forName|(?:new )?(?:URLClassLoader|GroovyShell|SpelExpressionParser"
        r"|InitialContext)\b|MethodHandles\.\w+"
        r"|ToolProvider\.getSystemJavaCompiler|Method\.invoke",
        data=r"(?:new )?(?:ObjectInputStream|XMLDecoder|XStream)\b|\w+\.readObject\b",
        native=r"System\.load(?:Library)?|(?:sun\.misc\.)?Unsafe\b|Linker\.nativeLinker|Native\.load",
    ),
    _uses(
        process=r".*\.(exec)\(|import .*(ProcessBuilder)",
        network=r"import (?:static )?(java\.net|javax\.net|okhttp3|org\.apache\.http"
        r"|org\.springframework\.web\.client)",
        deletes=r".*\.(delete|deleteOnExit|deleteRecursively)\(\)",
        code=r"import (?:static )?(javax\.script|javax\.naming|java\.lang\.reflect|groovy\.lang)|.*\.(setAccessible)\(",
    ),
)  # fmt: skip

C_FAMILY = RiskTable(
    _names(
        environment=r"environ\b(?=\s*[\[;)+*])",
        links=r"(?:std::|::)?(?:symlink|link|linkat|symlinkat|f?chmod|[lf]?chown)\b(?=\s*\()|(?:std::)?(?:filesystem|fs)::(?:create_(?:sym|hard_)link|permissions)",
        process=r"(?:std::|::)?(?:system|popen|_popen|_wsystem|execl[pe]*|execv[pe]*|execvpe|fork|vfork"
        r"|posix_spawnp?|CreateProcess[AW]?"
        r"|ShellExecute\w*|WinExec)\b(?=\s*\(|\s*[,;)])|boost::process::\w+|QProcess\b",
        network=r"(?:::)?(?:socket|connect|sendto|recvfrom|getaddrinfo|gethostbyname|WSAStartup|InternetOpen\w*"
        r"|WinHttpOpen)\b(?=\s*\()"
        r"|curl_\w+|boost::asio::\w+|asio::\w+|httplib::\w+|cpr::\w+|QNetworkAccessManager\b",
        deletes=r"(?:std::|::)?(?:remove|unlink|unlinkat|rmdir|_unlink|_rmdir|DeleteFile[AW]?"
        r"|RemoveDirectory[AW]?|SHFileOperation\w*)\b(?=\s*\()"
        r"|(?:std::)?(?:filesystem|fs)::remove(?:_all)?",
        native=r"(?:::)?(?:dlopen|dlsym|LoadLibrary\w*|mprotect|VirtualAlloc|ptrace)\b(?=\s*\()|asm\b|__asm\w*",
    ),
    _uses(
        network=r"#include.*[<\"/](sys/socket|netdb|winsock2?|curl/curl|arpa/inet|boost/asio|httplib|cpr/cpr)",
        process=r"#include.*[<\"/](spawn|boost/process)",
        native=r"#include.*[<\"/](dlfcn)",
    ),
)  # fmt: skip

CSHARP = RiskTable(
    _names(
        outside=r"Environment\.(?:GetFolderPath|SpecialFolder\.\w+)",
        environment=r"Environment\.GetEnvironmentVariables",
        links=r"(?:System\.IO\.)?(?:File|Directory)\.(?:CreateSymbolicLink|SetUnixFileMode|SetAccessControl)",
        tests=r"(?:new )?(?:System\.Diagnostics\.)?(?:StackTrace|StackFrame)\b|Environment\.StackTrace",
        process=r"(?:System\.Diagnostics\.)?(?:Process\.Start|ProcessStartInfo\b)"
        r"|new (?:System\.Diagnostics\.)?Process\b",
        network=r"(?:new )?(?:System\.Net\.[\w.]*)?(?:HttpClient|WebClient|TcpClient|TcpListener|UdpClient"
        r"|Socket|ClientWebSocket|SmtpClient"
        r"|HttpListener)\b(?=\s*[(.;])|WebRequest\.\w+|Dns\.\w+",
        deletes=r"(?:System\.IO\.)?(?:File|Directory)\.Delete|FileSystem\.Delete\w+",
        code=r"(?:System\.Reflection\.)?Assembly\.(?:Load\w*|UnsafeLoadFrom)|Activator\.CreateInstance\w*"
        r"|CSharpScript\.\w+|CSharpCodeProvider\b"
        r"|Type\.GetType\b|DynamicMethod\b|Expression\.Compile",
        data=r"(?:new )?(?:BinaryFormatter|NetDataContractSerializer|LosFormatter|SoapFormatter)\b"
        r"|TypeNameHandling\.\w+",
        native=r"DllImport\b|LibraryImport\b|Marshal\.\w+|NativeLibrary\.\w+|unsafe\b",
    ),
    _uses(
        process=r"using (?:static )?(System\.Diagnostics\.Process)",
        network=r"using (?:static )?(System\.Net[\w.]*)",
        deletes=r".*\.(Delete)\(",
        native=r"using (?:static )?(System\.Runtime\.InteropServices)",
        code=r".*\.(Invoke|InvokeMember)\(|using (System\.Reflection\.Emit)",
    ),
    (re.compile(r"using\s+(?P<alias>\w+)\s*=\s*(?P<module>[\w.]+)\s*;"),),
)  # fmt: skip

SHELL = RiskTable(
    _names(
        environment=r"(?<![-/\w])(?:printenv|env)\b(?=\s*(?:$|[|>;&]))",
        links=r"(?<![-/])(?:chmod|chown|ln|chattr|setfacl)\b(?=\s)",
        installs=r"(?<![-/])(?:pip3?|npm|pnpm|yarn|apt|apt-get|dnf|brew|gem|cargo|go)\s+(?:install|add|get|i)\b",
        outside=r"\$\{?HOME\b|(?<!\w)~/",
        network=r"(?<![-/])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|socat)\b(?=\s)|/dev/(?:tcp|udp)/",
        deletes=r"(?<![-/])(?:rm|rmdir|shred|unlink|mkfs\S*)\b(?=\s)|dd\s+(?:if|of)=|find\s[^\n|;]{0,200}-delete",
        code=r"(?<![-/])(?:eval|source)\b(?=\s)|(?:ba|z|k)?sh\s+-c\b|\|\s*(?:ba|z)?sh\b|python3?\s+-c\b|perl\s+-e\b",
        process=r"(?<![-/])(?:sudo|su|nohup|crontab|systemctl|docker|kubectl)\b(?=\s)",
    ),
    {},
)

PHP_RUBY = RiskTable(
    _names(
        environment=r"getenv\(\s*\)|\$_ENV\b(?!\s*\[)|ENV\.(?:to_h|to_hash|each\w*|map|inspect)\b",
        outside=r"Dir\.home|File\.expand_path",
        links=r"(?:symlink|link|chmod|chown|File\.(?:symlink|link|chmod|chown)|FileUtils\.(?:ln\w*|chmod\w*|chown\w*))\b(?=[\s(])",
        code=r"(?:eval|assert|create_function|instance_eval|class_eval|module_eval|binding\.eval"
        r"|Kernel\.eval)\b(?=[\s(])",
        process=r"(?:exec|shell_exec|system|passthru|popen|proc_open|pcntl_exec|spawn|Open3\.\w+|IO\.popen"
        r"|Kernel\.(?:exec|system|spawn))\b(?=[\s(])",
        network=r"(?:curl_\w+|fsockopen|stream_socket_client|Net::\w+|TCPSocket|UDPSocket|URI\.open|HTTParty"
        r"|Faraday|RestClient)\b",
        deletes=r"(?:unlink|rmdir|File\.(?:delete|unlink)|FileUtils\.rm\w*|Dir\.(?:delete|rmdir|unlink))\b",
        data=r"(?:unserialize|Marshal\.load|YAML\.(?:load|unsafe_load))\b",
    ),
    {},
)  # fmt: skip
