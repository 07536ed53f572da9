"""Keeping data apart from instructions: a fence that no data can close, and no word that a chat template obeys."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

_BACKTICKS = re.compile(r"`{3,}")

# The control words of the templates of Qwen, Llama, Mistral, Gemma, DeepSeek, Phi and StarCoder. Inference servers
# parse them wherever they stand in a message, so text of a document could end the user's turn and open another.
_TEMPLATE_WORD = re.compile(
    r"<\|[A-Za-z][\w-]{0,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>"
    r"|</?s>|<(?:bos|eos|pad|unk)>|<fim_(?:prefix|middle|suffix)>|</?tool_(?:call|response)>"
)


def nonce() -> str:
    """The id of one prompt's data fence, which nobody who wrote the data could have known."""
    return secrets.token_hex(4)


def data(text: str, ident: str) -> str:
    """`text` as data: between two tags of this prompt's own id."""
    return f"<data-{ident}>\n{text}\n</data-{ident}>"


def code_fence(*texts: str) -> str:
    """Backticks for a code block that can hold all `texts`: one more than their longest run, at least three."""
    longest = max((len(run) for text in texts for run in _BACKTICKS.findall(text)), default=2)
    return "`" * (longest + 1)


def neutralize(text: str, known: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """`text` with a placeholder for each word that a chat template would obey, and all placeholders in use.

    Restored in a reply like a secret (`redact.restore`), so code that is about such words survives.
    """
    placeholders = dict(known)
    names = {value: name for name, value in known.items()}

    def replace(match: re.Match[str]) -> str:
        word = match.group()
        number = 0
        while word not in names:
            number += 1
            name = f"STET_TOKEN_{number}"
            if name not in placeholders and name not in text:
                names[word] = name
                placeholders[name] = word
        return names[word]

    return _TEMPLATE_WORD.sub(replace, text), placeholders
