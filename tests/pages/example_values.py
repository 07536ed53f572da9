"""Typical values of the placeholders in messages, by their names."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_NAMES: Final = {
    "about": "the run failed", "absent": "ruff", "action": "refactor", "actions": "refactor, test",
    "arg": "items", "arm": "code", "arms": "code, data", "asname": "np", "backend": "bubblewrap",
    "base": "HEAD", "box": "bubblewrap", "bring": "libxml2", "budget": "quick", "capability": "chat",
    "change": "`<` instead of `<=`", "check": "tests", "checks": "tests, types",
    "choices": "functions and methods", "chosen": "src/app.py", "close": "deadline", "code_span": "`total`",
    "command": "pytest -q", "copies": "4", "criterionkind": "tests", "dotted": "checks.tets",
    "each": "src/app.py → src/util.py", "elts": "int, str", "endpoint": "local", "entry": "stet",
    "extension": "stet.stet", "field": "name", "forms": "`file:line`", "framework": "FastAPI",
    "function": "parse", "gone": "except ValueError", "head": "if", "heading": "app.py", "host": "0.0.0.0",
    "id": "20260301-7f3a", "ident": "a3f9", "identifiers": "`total`, `mean`", "ids": "a3f9, a3fb",
    "items": "import os", "job": "7", "job_id": "7", "judges": "tests, types", "key": "deadline",
    "kinds": "tests, example", "known": "a, b", "label": "tests", "lacks": "numpy", "language": "python",
    "languages": "python, go", "level": "strong", "levelname": "WARNING", "libraries": "pandas",
    "library": "pandas", "made": "Cart", "mark": "#", "method": "add", "model": "qwen2.5",
    "models": "fast, strong", "module": "util", "modules": "lxml", "name": "total", "named": "docker",
    "names": "total, mean", "near": "deadline", "op": "purge", "operator": "==", "option": "--edit",
    "other": "`total - 1`", "others": "`mean`", "outermost": "lambda", "owner": "root", "package": "numpy",
    "pair": "0.1 and 0.2", "parts": "the middle part", "plain": "instruction", "platform": "3.13 on Linux",
    "point": "shop-checks", "profile": "abi <abi/4.0>,", "project": "shop", "project_action": "task",
    "qualified": "`Parser.parse`", "requirement": "numpy==2.1", "requirements": "numpy, pandas",
    "reserved": "2", "reviewer": "qwen2.5", "role": "review", "rule": "E501", "runner": "pytest",
    "running": "test_total", "scope": "shop", "self": "none responds on port 11434", "service": "stet",
    "settings": "deadline, budget", "severity": "warning", "signature": "total(items, tax)", "source": "ruff",
    "sources": "ruff", "spoken": "UTF-8", "state": "loaded", "step": "2. Write the tests", "strange": "nunpy",
    "symbol": "total", "system": "Windows", "target": "src/app.py", "task": "20260301-7f3a",
    "test": "test_total", "title": "Refactor", "token": "x", "tool": "ruff", "top": "yaml", "type": "NameError",
    "unit": "total", "user": "anna", "value": "0", "variable": "STET_DEADLINE", "vs_code": "code, codium",
    "waiting": "mypy", "weights": "small, large",
}  # fmt: skip
"""Names of things: of code, of models, of settings."""

_NUMBERS: Final = {
    "above": "2", "again": "1.4x", "asked": "4", "at_once": "4", "branches": "8", "buffers": "2", "bytes": "64",
    "calls": "3", "captured": "4", "changed": "12", "code": "1", "column": "5", "columns": "4",
    "compared": "40", "complex": "10", "confirmed": "2", "context": "8192", "cost": "0.02", "count": "3",
    "counted": "4", "current": "strict", "cyclomatic": "14", "data": "80,000", "days": "7", "deadline": "10",
    "detected": "9", "differing": "2", "dimension": "384", "distinct": "4", "documented": "6", "done": "2",
    "dropped": "2", "duration": "1.2 s", "enabled": "5", "end": "60", "entries": "20,000",
    "errors": "ValueError", "examples": "3", "exit": "1", "failed": "2", "failing": "2 more tests",
    "files": "12", "findings": "6", "fixed": "2", "found": "5", "free": "210", "functions": "9",
    "gigabytes": "4", "good": "3", "groups": "3", "hidden": "2", "high": "10", "hit": "18", "index": "1",
    "inputs": "214", "job_cost": "0.10", "job_seconds": "20", "kept": "2", "largest": "20",
    "largest_run": "500", "last_line": "no output", "lasted": "8 s", "late": "3", "left": "2", "left_out": "4",
    "length": "120", "limit": "10", "line": "3", "lines": "20", "low": "1", "max_tokens": "2048",
    "megabytes": "491", "missed": "no response", "most": "5", "most_actions": "50", "most_bytes": "20",
    "most_code": "8000", "most_entries": "20,000", "most_files": "10", "most_functions": "10",
    "most_keys": "500", "most_lines": "400", "most_parts": "8", "most_patch": "5", "most_paths": "100",
    "most_refusals": "3", "most_seconds": "120", "most_steps": "8", "most_text": "4000", "most_total": "20",
    "most_turns": "4", "most_without_git": "5000", "most_words": "2000", "n": "2", "new": "2",
    "new_on_new": "failed", "newer": "2.0", "none": "nothing", "noticed": "3", "number": "3",
    "open_files": "256", "own": "8", "passed": "4", "paths": "9", "pause": "23", "pieces": "1.2", "points": "2",
    "port": "8080", "price": "0.02", "problems": "3", "processes": "64", "programs": "2",
    "prompt_tokens": "1200", "recorded": "3", "records": "5", "redactions": "2", "repeated": "2",
    "replies": "3", "reply_tokens": "400", "rest": "3", "results": "2", "resumed": "2", "returncode": "1",
    "rows": "10", "run": "2", "runs": "2", "score": "0.8", "scratch": "100", "second": "2", "seconds": "5",
    "seconds_at_stop": "60", "shape": "768", "share": "62", "signal": "9", "size": "20", "sizes": "491",
    "skipped": "4", "slept": "2", "solutions": "12", "start": "17", "status": "1", "steps": "3", "still": "1",
    "strikes": "3", "suggested": "3", "suspects": "2", "temperature": "0.2", "tests": "4", "text": "0",
    "tiers": "3", "timeout": "10", "timeout_first_token": "30", "timeout_seconds": "5", "timeout_token": "10",
    "times": "1, 4, 16 ms", "todo": "5", "tokens": "1500", "total": "25", "tried": "5", "turns": "3",
    "uncaptured": "2", "uncounted": "1", "units": "5", "unknown": "2", "unread": "4", "unsteady": "2",
    "valid": "180", "version": "2", "waited": "2 s", "without": "3", "words": "40", "worth": "1.2",
}  # fmt: skip
"""Counts and measures."""

_PLACES: Final = {
    "address": "an http:// or https:// address", "base_url": "http://127.0.0.1:11434/v1", "cache": "/tmp/cache",
    "config": ".stet.toml", "doc_uri": "file:///src/app.py", "during": "the tests",
    "executable": "/usr/bin/python3", "file": "app.py", "filename": "stet.log", "folder": "src",
    "fresh": "test_app.py", "key_origin": "~/.config/stet/config.toml", "list_file": ".stetignore",
    "log": "stet.log", "log_file": "memory.log", "mcp": ".mcp.json", "move": "src/app.py", "old": "app.py",
    "origin": ".stet.toml", "output": "25", "outside": "/etc/hosts", "parent": "/home/anna",
    "path": "src/app.py", "pattern": "lib/*.py", "place": ".stet.toml, line 3",
    "places": "src/app.py, lib/app.py", "prefix": "src/link", "project_file": ".stet.toml",
    "readable": '"/usr"', "real": "/home/anna", "report": "bwrap is not installed", "revision": "main~9",
    "root": "shop", "scheme": "tcp", "shown": "src/app.py", "snapshot": "src/app.py", "span": "x == 1",
    "stem": "app", "suffix": "JSON", "suite": "test_app.py", "texts": "/tmp/texts", "there": "/var/lib/stet",
    "to": "src/util.py", "trace": "20260301-7f3a", "twice": "total", "uri": "file:///src/app.py",
    "url": "http://127.0.0.1:8080", "uses": "3 files", "where": "src/app.py", "work": "/tmp/work",
    "writable": '"/tmp"',
}  # fmt: skip
"""Files, folders and addresses."""

_SENTENCES: Final = {
    "actual": "returns 5", "advice": "write tests for `total`", "after": "`return 2`",
    "answer": "fails `tests`", "apart": "one of 5 tests", "api_key_keyring": "stet/local", "at": "tests",
    "bad": "test_total", "before": "`return 1`", "beside": "it writes a file", "bounds": "more than 200 files",
    "broken_off": "within the code", "by": "", "by_hand": "", "call": "total([1])", "came": "1 edit",
    "captured_output": "'done'", "caveat": "", "clause": "shop", "closer": "end if", "closers": ")",
    "configured": "/usr/share/hooks", "cursor": "<CURSOR>", "denied": "it crashed",
    "description": "a table of sales", "detail": "1 of 4 tests fails", "details": "1 warning", "diff": "-x = 1",
    "encoding": "latin-1", "ended": "succeeded", "error": "connection refused", "evidence": "parsed",
    "exceptions": "line 7", "excuse": "no inputs found", "excuses": "they need files", "expected": "a number",
    "extra": "through the language pack", "failure": "connection reset", "failures": "HTTP 404",
    "fault": "no closing fence", "fetching": "qwen2.5", "first": "4", "first_line": "no module named 'yaml'",
    "fix": "write valid JSON", "flaky": "test_clock", "gap": "line 7 not run", "given": "total([1]) == 1",
    "got": "but returns 4", "health": "none is configured", "held": "", "help": "",
    "hint": "did you mean `refactor`?", "install": "npm install -g pyright", "instead": "",
    "instruction": "round the total to cents", "intent": "round the total", "kind": "an API key",
    "last": "mean", "last_error": "HTTP 503.", "listed": "data/sales.csv", "loss": "nothing is remembered",
    "lost": "1 syntax error", "marked": "sentences", "memory": "2 GB", "message": "name 'x' is not defined",
    "messages": "an incomplete installation", "minimum": "strong", "missing": "node", "more": "",
    "msg": "int() got a list", "needed": "491", "new_hazards": "eval", "new_lint": "F401", "nonce": "7f3a",
    "not_run": "not-run", "now": "2", "objects": "", "obstacle": "read-only file system", "opener": "#if",
    "otherwise": "2 calls", "outcome": "data/sales.csv", "passes": "pass", "passing": "4 tests pass",
    "problem": "the tests do not parse", "program": "stet-index --serve", "python": "3.13", "quote": "x / 0",
    "quoted": "`return`", "raised": "", "raised_by": "give an example", "ran": "", "read": "3 entries",
    "reason": "pytest is not installed", "reasons": "", "recognized": "", "record": "9 of 10",
    "resting": "local", "result": "no response", "right": "y", "row": "line 3", "runaway": "it repeats itself",
    "same": "180 inputs", "sealed": "the prompt has an API key", "seen": "2", "sentence": "expected 4, got 5",
    "sentences": "cannot be read", "sha256": "12ab", "sharing": "line 3", "short": "`total`",
    "shows": "not recorded", "sign": "", "stale": "", "stated": "number", "statement": "return x",
    "step_kinds": "code, test", "stet": "0.1.0", "stopped": "memory", "str": "12 lines before and after",
    "strerror": "Permission denied", "summary": "1 test fails", "table": "in [providers.local]", "taken": "",
    "team": "", "them": "it", "then": "", "together": "cannot be read",
    "too_large": "the file is larger than 500 KB", "unasked": "no model is configured",
    "unless": "if nothing refutes it", "unmet": "`tests pass`", "unrun": "2 did not run",
    "unsaid": "no evidence", "verb": "failed", "verbs": "reach", "verdict": "fail", "waits": "",
    "want": "30 rows", "wanted": "a number", "was": "1", "way": "to line 9", "way_out": "Run `stet doctor`",
    "what": "the name", "when": "on 3 of 4 inputs", "which": "step 2", "whose": "changed",
    "why": "no Python found", "why_no_python": "no Python was found", "why_none": "pytest is not installed",
    "why_not": "pytest is not installed", "why_not_stronger": "2 inputs were not run",
    "why_open": "the cause is unknown", "witness": "total([]) raises", "word": "foo",
    "worse": "complexity 4 → 6", "wrong": "40 rows", "yes": "Apply the edit",
}  # fmt: skip
"""Phrases, and what is only there at times ("")."""

OF_FILE: Final = {
    "engine/judges/doctest.py": {"source": "total([1])", "wanted": "1", "got": "returned 4"},
    "engine/judges/text/removed_code.py": {"mark": "raise"},
    "server/cli/editor_install.py": {"name": "VS Code", "value": "install"},
}
"""Values for names that mean something special in a file."""

EXAMPLES: Final = MappingProxyType(_NAMES | _NUMBERS | _PLACES | _SENTENCES)
"""Each placeholder's name with a value; any other shows its own name."""
