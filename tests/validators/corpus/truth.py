"""Writes truth.json: which mutants the languages' own parsers reject. Run it when samples or mutations have changed.

    python tests/validators/corpus/truth.py [LANGUAGE...]

It needs node with the npm package `typescript` 5 (NODE_PATH says where), gofmt, rustfmt, a JDK, mcs and clang; the
tests need none of them. A text's truth is "r" (rejected) or "v" (valid). C++ is judged by clang with its types: no
other parser of the language can be had alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))  # as a script this file has no package
from support.corpora.corpus import digest, mutants, samples

RECORD = Path(__file__).with_name("truth.json")

_NODE = """
const vm = require('vm');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf-8'));
const works = (make) => { try { make(); return true; } catch (error) { return !(error instanceof SyntaxError); } };
const script = (text) => works(() => vm.compileFunction(text, ['module', 'exports', 'require']));
const module_ = (text) => works(() => new vm.SourceTextModule(text));
console.log(JSON.stringify(texts.map(({ name, text }) => module_(text) || (!name.endsWith('.mjs') && script(text)))));
"""
_TYPESCRIPT = """
const ts = require('typescript');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf-8'));
const errors = ({ name, text }) => ts.createSourceFile(name, text, ts.ScriptTarget.Latest).parseDiagnostics;
console.log(JSON.stringify(texts.map((each) => errors(each).length === 0)));
"""
_JAVA = """
import java.net.URI;
import java.util.*;
import javax.tools.*;
import com.sun.source.util.JavacTask;

class Truth {
  public static void main(String[] args) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    for (String file : args) {
      String text = java.nio.file.Files.readString(java.nio.file.Path.of(file));
      JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
        public CharSequence getCharContent(boolean ignore) { return text; }
      };
      DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
      JavacTask task = (JavacTask) compiler.getTask(null, null, found, List.of("-proc:none"), null, List.of(source));
      task.parse();
      boolean ok = found.getDiagnostics().stream().noneMatch(d -> d.getKind() == Diagnostic.Kind.ERROR);
      System.out.println(ok);
    }
  }
}
"""

Named = Sequence[tuple[str, str]]
"""Names and texts."""


def python(texts: Named) -> list[bool]:
    def valid(text: str) -> bool:
        try:
            compile(text, "text", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        return True

    return [valid(text) for _, text in texts]


def by_node(script: str, *options: str) -> Callable[[Named], list[bool]]:
    def judge(texts: Named) -> list[bool]:
        data = json.dumps([{"name": name.rpartition("/")[2], "text": text} for name, text in texts])
        done = subprocess.run(["node", *options, "-e", script], input=data, capture_output=True, text=True, check=True)
        answers: list[bool] = json.loads(done.stdout)
        return answers

    return judge


def by_standard_input(*command: str) -> Callable[[Named], list[bool]]:
    def judge(texts: Named) -> list[bool]:
        runs = (subprocess.run(command, input=text, capture_output=True, text=True) for _, text in texts)
        return [run.returncode == 0 for run in runs]

    return judge


def by_file(suffix: str, *command: str) -> Callable[[Named], list[bool]]:
    def judge(texts: Named) -> list[bool]:
        with TemporaryDirectory() as folder:
            file = Path(folder, f"a{suffix}")
            answers = []
            for _, text in texts:
                file.write_text(text, "utf-8")
                answers.append(subprocess.run([*command, str(file)], capture_output=True).returncode == 0)
            return answers

    return judge


def java(texts: Named) -> list[bool]:
    with TemporaryDirectory() as folder:
        program = Path(folder, "Truth.java")
        program.write_text(_JAVA)
        files = [Path(folder, f"{number}.txt") for number in range(len(texts))]
        for file, (_, text) in zip(files, texts, strict=True):
            file.write_text(text, "utf-8")
        done = subprocess.run(["java", str(program), *map(str, files)], capture_output=True, text=True, check=True)
        return [line == "true" for line in done.stdout.split()]


JUDGES: Mapping[str, Callable[[Named], list[bool]]] = {
    "python": python,
    "javascript": by_node(_NODE, "--experimental-vm-modules"),
    "typescript": by_node(_TYPESCRIPT),
    "go": by_standard_input("gofmt", "-e", "-l"),
    "rust": by_standard_input("rustfmt", "--edition", "2021", "--emit", "stdout", "--quiet"),
    "java": java,
    "cpp": by_standard_input("clang", "-std=c++17", "-x", "c++", "-fsyntax-only", "-w", "-"),
    "csharp": by_file(".cs", "mcs", "--parse", "-unsafe", "-langversion:latest"),
}


def record(language: str) -> dict[str, object]:
    """The truth about one language's mutants; ValueError if its parser rejects a sample."""
    judge = JUDGES[language]
    originals = list(samples(language))
    for (name, _), valid in zip(originals, judge(originals), strict=True):
        if not valid:
            raise ValueError(f"{name} is no valid {language}: fix the sample")
    broken = list(mutants(language))
    verdicts: dict[str, dict[str, str]] = defaultdict(lambda: defaultdict(str))
    answers = judge([(mutant.file, mutant.text) for mutant in broken])
    for mutant, valid in zip(broken, answers, strict=True):
        verdicts[mutant.file][mutant.kind] += "v" if valid else "r"
    return {"digest": digest([mutant.text for mutant in broken]), "files": verdicts}


if __name__ == "__main__":
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for language in sys.argv[1:] or JUDGES:
        known[language] = record(language)
        RECORD.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        print(language, "is recorded")
