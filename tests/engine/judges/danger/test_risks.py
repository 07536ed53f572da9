"""What code can do is found under whatever name it is reached, and what only looks like it is not told."""

from __future__ import annotations

import random
import sysconfig
import time
from pathlib import Path

import pytest

from stet_ls.engine.judges.danger.risks import risks_in
from stet_ls.validators.source import Source

PROCESS, CODE, NETWORK = "starts a process", "runs text as code", "talks to the network"
DATA, NATIVE, DELETES, INSIDE = (
    "deserializes code", "calls native code", "deletes files", "accesses interpreter internals",
)  # fmt: skip

PYTHON = {
    "import os as o\no.system(x)": PROCESS,
    "from os import system as s\ns(x)": PROCESS,
    "import subprocess as sp\nsp.Popen(x)": PROCESS,
    "run = __import__('subprocess').run\nrun(x)": PROCESS,
    "import importlib\nimportlib.import_module('sub' + 'process').run(x)": PROCESS,
    "import os\ngetattr(os, 'sys' + 'tem')(x)": PROCESS,
    "import os\ngetattr(os, name)(x)": INSIDE,
    "import os\nos.__dict__['system'](x)": PROCESS,
    "import os\nvars(os)['system'](x)": PROCESS,
    "import sys\nsys.modules['os'].system(x)": PROCESS,
    "import os\nf = os.popen\nmap(f, xs)": PROCESS,
    "import os\nif (f := os.system)(x):\n    pass": PROCESS,
    "@os.system\ndef f(): ...": PROCESS,
    "import pty; pty.spawn('/bin/sh')": PROCESS,
    "import asyncio\nasyncio.create_subprocess_shell(x)": PROCESS,
    "def f(run=os.system): run(x)": PROCESS,
    "sorted(lines, key=eval)": CODE,
    "e = eval\ne(x)": CODE,
    "__builtins__['eval'](x)": CODE,
    "__builtins__.exec(x)": CODE,
    "globals()['__builtins__'].eval(x)": CODE,
    "getattr(__builtins__, 'ev' 'al')(x)": CODE,
    "getattr(__import__('builtins'), 'lave'[::-1])(x)": CODE,
    "import builtins as b\nb.compile(x, '', 'exec')": CODE,
    "import runpy\nrunpy.run_path(x)": CODE,
    "().__class__.__base__.__subclasses__()": INSIDE,
    "f.__globals__['os']": INSIDE,
    "import socket\nsocket.create_connection(x)": NETWORK,
    "from urllib.request import urlopen as u\nu(x)": NETWORK,
    "import http.client as h\nh.HTTPSConnection(x)": NETWORK,
    "import requests as r\nr.post(x, data=y)": NETWORK,
    "async def f(s): await asyncio.open_connection(s)": NETWORK,
    "import webbrowser\nwebbrowser.open(x)": NETWORK,
    "from pickle import loads\nloads(x)": DATA,
    "import yaml\nyaml.load(x, Loader=yaml.Loader)": DATA,
    "class A:\n    def __reduce__(self): return print, (1,)": DATA,
    "from ctypes import CDLL as c\nc(None)": NATIVE,
    "import shutil\nshutil.rmtree(x)": DELETES,
    "from shutil import rmtree as clean\nclean(x)": DELETES,
    "import os\nos.unlink(x)": DELETES,
    "from pathlib import Path\n[p.unlink() for p in Path(x).iterdir()]": DELETES,
    "import pathlib\npathlib.Path(x).rmdir()": DELETES,
}

OTHERS = {
    "javascript": {
        "import { exec as e } from 'node:child_process';\ne(x);": PROCESS,
        "const { spawn } = require('child_process');\nspawn(x);": PROCESS,
        "require('child_' + 'process').exec(x);": PROCESS,
        "process.binding('spawn_sync');": PROCESS,
        "const f = eval;\nf(x);": CODE,
        "(0, eval)(x);": CODE,
        "globalThis['ev' + 'al'](x);": CODE,
        "xs.map(eval);": CODE,
        "new Function('return ' + x)();": CODE,
        "[].constructor.constructor('x')();": CODE,
        "setTimeout('run()', 1);": CODE,
        "import(name).then(m => m.default());": CODE,
        "require(name);": CODE,
        "window.fetch(url, {body});": NETWORK,
        "window['fetch'](url);": NETWORK,
        "navigator.sendBeacon(url, x);": NETWORK,
        "new WebSocket(url);": NETWORK,
        "import https from 'https';\nhttps.request(x);": NETWORK,
        "const h = require('http');\nh.get(x);": NETWORK,
        "new Image().src = url + x;": NETWORK,
        "import { rmSync as r } from 'fs';\nr('/');": DELETES,
        "import fs from 'fs/promises';\nfs.rm(x);": DELETES,
        "const { unlink } = require('node:fs');\nunlink(x);": DELETES,
        "fs['unlinkSync'](x);": DELETES,
    },
    "typescript": {
        "const r: any = eval;\nr(x);": CODE,
        "await fetch(`https://x/${y}`);": NETWORK,
        "import * as cp from 'child_process';\ncp.execSync(x);": PROCESS,
        "Deno.remove(x);": DELETES,
    },
    "go": {
        'package p\nimport "os/exec"\nfunc f() { exec.Command(x).Run() }': PROCESS,
        'package p\nimport e "os/exec"\nfunc f() { e.Command(x).Run() }': PROCESS,
        'package p\nimport "net/http"\nfunc f() { http.Post(u, t, b) }': NETWORK,
        'package p\nfunc f() { net.Dial("tcp", x) }': NETWORK,
        "package p\nfunc f() { os.RemoveAll(x) }": DELETES,
        'package p\nimport "unsafe"\nfunc f() { unsafe.Pointer(x) }': NATIVE,
        "package p\nfunc f() { plugin.Open(x) }": CODE,
    },
    "rust": {
        'fn f() { std::process::Command::new("sh").spawn(); }': PROCESS,
        "use std::process::Command as C;\nfn f() { C::new(x).spawn(); }": PROCESS,
        "fn f() { TcpStream::connect(x); }": NETWORK,
        "fn f() { reqwest::blocking::get(x); }": NETWORK,
        "fn f() { std::fs::remove_dir_all(x); }": DELETES,
        "use std::fs::{remove_file as rf};\nfn f() { rf(x); }": DELETES,
        "fn f() { unsafe { g() } }": NATIVE,
    },
    "java": {
        "class A { void f() { Runtime.getRuntime().exec(x); } }": PROCESS,
        "class A { void f() { new ProcessBuilder(x).start(); } }": PROCESS,
        "class A { void f() { new URL(x).openStream(); } }": NETWORK,
        "class A { void f() { HttpClient.newHttpClient(); } }": NETWORK,
        "class A { void f() { Files.deleteIfExists(x); } }": DELETES,
        "class A { void f() { file.delete(); } }": DELETES,
        "class A { void f() { new ObjectInputStream(x).readObject(); } }": DATA,
        "class A { void f() { Class.forName(x); } }": CODE,
        "class A { void f() { new ScriptEngineManager(); } }": CODE,
        "class A { void f() { System.loadLibrary(x); } }": NATIVE,
    },
    "cpp": {
        "int f() { return system(x); }": PROCESS,
        "int f() { return std::system(x); }": PROCESS,
        "int f() { popen(x, y); }": PROCESS,
        "int f() { execvp(x, y); }": PROCESS,
        "auto run = &system;": PROCESS,
        "int f() { connect(s, a, l); }": NETWORK,
        "int f() { curl_easy_perform(c); }": NETWORK,
        "#include <sys/socket.h>\n": NETWORK,
        "void f() { std::filesystem::remove_all(p); }": DELETES,
        "void f() { unlink(p); }": DELETES,
        "void f() { dlopen(p, 0); }": NATIVE,
    },
    "csharp": {
        "class A { void F() { Process.Start(x); } }": PROCESS,
        "class A { void F() { var c = new HttpClient(); } }": NETWORK,
        "using N = System.Diagnostics.Process;\nclass A { void F() { N.Start(x); } }": PROCESS,
        "class A { void F() { File.Delete(x); } }": DELETES,
        "class A { void F() { Directory.Delete(x, true); } }": DELETES,
        "class A { void F() { Assembly.Load(x); } }": CODE,
        "class A { void F() { new BinaryFormatter().Deserialize(x); } }": DATA,
        'class A { [DllImport("x")] static extern void F(); }': NATIVE,
    },
    "shellscript": {"curl https://x | sh\n": NETWORK, 'rm -rf "$x"\n': DELETES, 'eval "$x"\n': CODE},
}


@pytest.mark.parametrize("code", PYTHON)
def test_risky_python_calls_are_found_through_aliases(code: str) -> None:
    assert PYTHON[code] in [what for what, _ in risks_in(Source(code + "\n"), "python")]


@pytest.mark.parametrize(
    ("language", "code"), [(language, code) for language, codes in OTHERS.items() for code in codes]
)
def test_risky_calls_of_other_languages_are_found(language: str, code: str) -> None:
    assert OTHERS[language][code] in [what for what, _ in risks_in(Source(code + "\n"), language)]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "evaluate(x); model.eval(); re.compile(x); json.load(f); self.system(x); x = 'eval(a)'"),
        ("python", "import os\nos.path.join(a, b); os.environ['X']; getattr(self, name); xs.remove(1)"),
        ("python", "def connect(socket_path): return db.connect(socket_path)"),
        ("javascript", "// eval(x)\nconst s = 'fetch(url)'; obj.fetch(x); retrieval(x); const prefetch = 1;"),
        ("javascript", "import fs from 'fs'; fs.readFile(x); require('./local'); xs.remove(1);"),
        ("typescript", "interface A { fetch: string; eval?: number }\nfunction refetch(): void {}"),
        ("go", 'package p\nimport "fmt"\nfunc f() { fmt.Println("exec.Command") }'),
        ("rust", "fn f(v: &mut Vec<i32>) { v.remove(0); } // Command::new"),
        ("java", "class A { void f() { list.remove(0); executor.submit(x); builder.deleteCharAt(0); } }"),
        ("cpp", 'void f() { v.erase(a); filesystem.size(); std::cout << "system(x)"; }'),
        ("csharp", "class A { void F() { list.Remove(x); Console.WriteLine(\"Process.Start\"); } }"),
    ],
)  # fmt: skip
def test_code_that_resembles_a_risk_is_not_reported(language: str, code: str) -> None:
    assert risks_in(Source(code + "\n"), language) == []


def test_broken_python_is_read_as_far_as_it_parses() -> None:
    assert risks_in(Source("def f(:\n    os.system(x)\n"), "python") is not None


def test_ordinary_code_is_rarely_reported() -> None:
    """In a library of general code one file in two has nothing to report even if all of it were new."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = random.Random(2).sample(sorted(set(folder.glob("*/*.py")) - set(folder.glob("test/*"))), 120)
    quiet = [file for file in files if not risks_in(Source(file.read_text("utf-8", errors="replace")), "python")]
    assert len(quiet) >= 60


@pytest.mark.parametrize("language", ["python", "javascript", "go", "cpp"])
@pytest.mark.parametrize("unit", ["a(b);\n", "import {a} from 'fs';\n", "x = [", "f(", "a.b.c.", "import x as y\n"])
def test_time_is_linear_on_hostile_text(language: str, unit: str) -> None:
    def seconds(size: int) -> float:
        source = Source(unit * (size // len(unit)))
        started = time.process_time()
        risks_in(source, language)
        return time.process_time() - started

    assert min(seconds(40_000) for _ in range(2)) < 12 * min(seconds(10_000) for _ in range(2)) + 0.3
