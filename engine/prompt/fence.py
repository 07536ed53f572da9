"""Separates data from instructions: a fence that no data can close, without control words of chat templates."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping

from stet_ls.validators.invisible_chars import HIDDEN

_BACKTICKS = re.compile(r"`{3,}")

# Inference servers parse the control words of their templates anywhere in a message, so text of a document could end
# the user's turn and open another. Characters that are invisible to a person may still be read by a model.
_OBEYED = re.compile(
    "|".join((
        r"<\|[^|<>\n`]{1,60}\|>",  # ChatML and Qwen, Llama 3, Phi, harmony, GLM, Granite, Command
        r"<\uff5c[^\uff5c<>\n]{1,60}\uff5c>",  # DeepSeek, with bars of full width
        r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT))\]",  # Mistral
        r"\[/?(?:ARGS|CALL_ID|THINK|gMASK)\]",
        r"<</?SYS>>|</?s>|<(?:bos|eos|pad|unk|mask|sop|eop|BOS_TOKEN|EOS_TOKEN|PAD_TOKEN|EOP_TOKEN)>",  # Llama 2, Gemma
        r"</?(?:start|end)_of_(?:turn|image|role|text)>|<(?:unused|reserved_special_token_)\d{1,4}>",
        r"</?fim_(?:prefix|middle|suffix|pad)>|<(?:PRE|SUF|MID|EOT)>",  # StarCoder, Code Llama
        r"<(?:file_sep|repo_name|reponame|filename|gh_stars|issue_\w{1,20}|jupyter_\w{1,20}|commit_\w{1,20})>",
        r"</?(?:tool_call|tool_response|tool_calls|tools|function_calls?|function_results?|antml:\w{1,30})>",
        r"</?data-[\w-]{0,40}>",  # Stet's own
        rf"{HIDDEN.pattern}+",
    ))
)  # fmt: skip


_KEY = secrets.token_bytes(32)


def ident_for(document: str, *texts: str) -> str:
    """The id of a data fence, which the author of the data cannot know: it is keyed by a secret of this process.

    It is the same for all prompts about a document, so that an endpoint's cache of the last prompt holds up to the
    first line that changed. Another one is drawn if any of the `texts` has found out about it.
    """
    ident = hashlib.blake2b(document.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=4).hexdigest()
    while any(ident in text for text in texts):
        ident = secrets.token_hex(4)
    return ident


def stable(text: str) -> str:
    """The id of a fence that is the same in each prompt, for caches: a hash, which no text can have in itself."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def data(text: str, ident: str) -> str:
    """`text` as data: between two tags with the prompt's id."""
    return f"<data-{ident}>\n{text}\n</data-{ident}>"


def code_fence(*texts: str) -> str:
    """The backticks of a code block for all `texts`: one more than their longest run, at least three."""
    longest = max((len(run) for text in texts for run in _BACKTICKS.findall(text)), default=2)
    return "`" * (longest + 1)


def neutralize(text: str, known: Mapping[str, str], *idents: str) -> tuple[str, dict[str, str]]:
    """`text` with a placeholder for each control word of a chat template, and all placeholders in use.

    They are restored in a reply like secrets (`redact.restore`), so code about such words survives. The tags of the
    prompt's own fences, `idents`, are not replaced.
    """
    placeholders = dict(known)
    names = {value: name for name, value in known.items()}
    own = {tag for ident in idents for tag in (f"<data-{ident}>", f"</data-{ident}>")}
    number = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal number
        word = match.group()
        if word in own:
            return word
        while word not in names:
            number += 1
            name = f"STET_TOKEN_{number}"
            if name not in placeholders and name not in text:
                names[word] = name
                placeholders[name] = word
        return names[word]

    return _OBEYED.sub(replace, text), placeholders
