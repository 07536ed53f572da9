"""Removes text that is not part of the answer: thoughts, and leaked control words of chat templates."""

from __future__ import annotations

import re

from stet_ls.engine.reply.parsing.fences import fenced_lines

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)"
# Only at the start of a line: prose and code may mention such a tag.
_OPEN = re.compile(rf"^[ \t]*<({_NAMES})>", re.MULTILINE | re.IGNORECASE)
_CLOSE = re.compile(rf"</({_NAMES})>", re.IGNORECASE)

# Qwen, Llama, Mistral, Gemma, DeepSeek, Phi, StarCoder, CodeLlama.
_TOKEN = re.compile(
    r"<\|[A-Za-z][\w-]{0,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|</?s>|<fim_(?:prefix|middle|suffix)>|<(?:PRE|SUF|MID|EOT)>"
)
_ENDS = re.compile(r"im_end|im_start|end|eot|eom|EOT|turn|INST|</s>|<s>|header_id", re.IGNORECASE)
_ROLE = re.compile(r"[ \t]*(?:assistant|model)\b[ \t]*:?[ \t]*\n?", re.IGNORECASE)
_NEXT_TURN = re.compile(r"^(?:Human|<human>|### ?(?:Human|User|Instruction)):(?=[ \t]|$)", re.MULTILINE)
_QUOTES = "\"'`"


def without_thinking(text: str) -> str:
    """The text without `<think>` blocks: an unclosed one extends to the end, a stray end tag from the start."""
    text = text.removeprefix("\ufeff")
    pieces: list[str] = []
    at = 0
    inside = fenced_lines(text) if "<" in text else None
    while inside is not None and (opened := _OPEN.search(text, at)) is not None:
        if inside(opened.start()):
            pieces.append(text[at : opened.end()])
            at = opened.end()
            continue
        pieces.append(text[at : opened.start()])
        closed = re.compile(rf"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        at = len(text) if closed is None else closed.end()
    pieces.append(text[at:])
    return _after_stray_end("".join(pieces))


def _after_stray_end(text: str) -> str:
    """The text after the last end tag without a start tag. Inside a block it counts if another block follows."""
    if "</" not in text:
        return text
    inside = fenced_lines(text)
    last_fence = text.rfind("```")
    opened = _OPEN.search(text) is not None
    for closed in reversed(list(_CLOSE.finditer(text))):
        alone = not text[text.rfind("\n", 0, closed.start()) + 1 : closed.start()].strip()
        if not inside(closed.start()) or (alone and last_fence > closed.end() and not opened):
            return text[closed.end() :]
    return text


def without_leaks(text: str) -> str:
    """The text without control words, cut where the model begins to imitate the next turn. Quoted ones are code."""
    pieces: list[str] = []
    at = 0
    begun = False
    for token in _TOKEN.finditer(text):
        if token.start() and text[token.start() - 1] in _QUOTES:
            continue
        pieces.append(text[at : token.start()])
        begun = begun or bool(pieces[-1].strip())
        at = token.end()
        if begun and _ENDS.search(token[0]):
            at = len(text)
            break
        if role := _ROLE.match(text, at):
            at = role.end()
    pieces.append(text[at:])
    return _first_turn("".join(pieces))


def _first_turn(text: str) -> str:
    if _NEXT_TURN.search(text) is None:
        return text
    inside = fenced_lines(text)
    for turn in _NEXT_TURN.finditer(text):
        if not inside(turn.start()) and text[: turn.start()].strip():
            return text[: turn.start()]
    return text
