"""A real Vim on a terminal of its own, with the configuration that Stet prints for it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

CONFIGURATION = Path(__file__).resolve().parents[3] / "editors" / "configs" / "vim.vim"

SECONDS = 60

_VIMRC = """
set nocompatible noswapfile nomore viminfo= shortmess+=I packpath+=/usr/share/vim/vimfiles
filetype plugin on
silent! packadd! ale
let g:ale_linters = {'python': ['stet']}
source %(configuration)s
function! Screen() abort
  let l:rows = map(range(1, &lines), {_, row -> join(map(range(1, &columns), {_, at -> screenstring(row, at)}), '')})
  return join(l:rows)
endfunction
function! WaitFor(condition) abort
  let l:end = reltime()
  while !eval(a:condition)
    if reltimefloat(reltime(l:end)) > %(seconds)d
      throw 'waited in vain for ' .. a:condition .. "\\n" .. Screen()
    endif
    sleep 20m
  endwhile
endfunction
function! Choose(title) abort
  let g:items = []
  function! Chosen(data, items) abort closure
    for l:item in a:items
      if stridx(l:item[1].title, a:title) == 0 && empty(g:items)
        let g:items = [l:item]
        call ale#codefix#ApplyLSPCodeAction(a:data, l:item[1])
      endif
    endfor
  endfunction
  " ALE asks no server that is still starting: the first answer may never come.
  while empty(g:items)
    call ale#codefix#Execute(0, function('Chosen'))
    sleep 500m
  endwhile
endfunction
function! Run() abort
  try
    let l:value = Steps()
    call writefile([json_encode({'ok': v:true, 'value': l:value})], %(answer)s)
  catch
    call writefile([json_encode({'ok': v:false, 'value': v:exception .. ' at ' .. v:throwpoint})], %(answer)s)
  endtry
  qall!
endfunction
"""


@cache
def missing(plugin: str = "") -> str | None:
    """What is not there for these tests, as text; None if nothing."""
    for program in ("vim", "script"):
        if shutil.which(program) is None:
            return f"no {program} on PATH"
    version = subprocess.run(["vim", "--version"], capture_output=True, text=True, timeout=SECONDS).stdout
    if "+eval" not in version:
        return "this vim knows no scripts"
    packages = Path("/usr/share/vim/vimfiles/pack/dist-bundle/opt")
    return f"no plugin {plugin} for this vim" if plugin and not (packages / plugin).exists() else None


def run(folder: Path, env: Mapping[str, str], file: Path, *steps: str) -> Any:
    """Opens the file, runs the steps as lines of a function and returns what its `return` says."""
    answer, vimrc, log = folder / "answer.json", folder / "vimrc", folder / "terminal.log"
    script = _VIMRC % {"configuration": CONFIGURATION, "seconds": SECONDS, "answer": repr(str(answer))}
    body = "\n".join(steps)
    steps_function = f"function! Steps() abort\n{body}\nendfunction"
    start = "autocmd VimEnter * call timer_start(0, {-> Run()})"
    vimrc.write_text(f"{script}\n{steps_function}\n{start}\n", encoding="utf-8")
    argv = shlex.join(["vim", "-u", str(vimrc), str(file)])
    subprocess.run(
        ["script", "-qec", argv, str(log)],
        cwd=file.parent, env={**env, "TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        timeout=2 * SECONDS,
    )  # fmt: skip
    assert answer.exists(), log.read_text(errors="replace")
    found = json.loads(answer.read_text(encoding="utf-8"))
    assert found["ok"], found["value"]
    return found["value"]
