"""The last step of a prompt: replaces secrets and control words of chat templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import PolicyError
from stet_ls.engine.privacy.redact import Redacted, Redaction, redact
from stet_ls.engine.privacy.secrets.dotenv import is_dotenv, values_of, workspace_values
from stet_ls.engine.prompt.fence import neutralize
from stet_ls.validators.containment import real_path

CONFIG = frozenset({
    "yaml", "json", "jsonc", "toml", "ini", "properties", "dotenv", "xml", "shellscript", "dockerfile", "terraform",
    "hcl", "makefile", "http", "dockercompose", "nix",
})  # fmt: skip
_CONFIG_FILES = (".conf", ".cfg", ".cnf", ".ini", ".properties", ".config", ".netrc", ".npmrc", ".pypirc", ".tfvars")


@dataclass(frozen=True, slots=True)
class SealedPrompt:
    """Messages that may be sent. `secrets` maps their placeholders to the original values.

    `foreign` are the placeholders from neither the document nor the user: they are not restored in code. `values`
    and `config` are used to seal further messages of the same job.
    """

    messages: tuple[Message, ...]
    redactions: tuple[Redaction, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    foreign: frozenset[str] = frozenset()
    values: tuple[str, ...] = field(default=(), repr=False)
    config: bool = False
    ident: str = ""

    @property
    def restorable(self) -> Mapping[str, str]:
        """The placeholders that are restored in a reply."""
        return {name: value for name, value in self.secrets.items() if name not in self.foreign}


UNSEALED = SealedPrompt(())
"""Nothing is hidden in these messages."""


def seal(request: Request, messages: Iterable[Message], ident: str, *others: str) -> SealedPrompt:
    """The messages of a job's first prompt. `ident` is the id of its data fence, `others` are those of further fences.

    Raises PolicyError, naming the line and the kind, if a secret could not be removed. Reads the workspace's
    `.env` files: not for an event loop.
    """
    config = is_config(request)
    values = listed_values(request)
    text = request.source.text.replace("\r\n", "\n")
    document = redact(text, request.hidden, values=values, config=config)
    own = _flat("\n".join([text, request.instruction, *request.constraints, *request.context.values()]))
    secrets = document.secrets
    sent: list[Message] = []
    found: list[Redaction] = []
    for message in messages:
        redacted = redact(message.content, secrets, values=values, config=config)
        if redacted.left:
            raise _refusal(document, redacted)
        content, secrets = neutralize(redacted.text, redacted.secrets, ident, *others)
        sent.append(Message(message.role, content))
        found += redacted.redactions
    used = {redaction.placeholder for redaction in found}
    redactions = [one for one in document.redactions if one.placeholder in used]
    redactions += [replace(one, line=None) for one in found if one.placeholder not in document.secrets]
    kept = {name: value for name, value in secrets.items() if name in used or _is_word(name)}
    foreign = frozenset(name for name, value in kept.items() if _flat(value) not in own and not _is_word(name))
    return SealedPrompt(tuple(sent), tuple(redactions), kept, foreign, values, config, ident)


def seal_more(sealed: SealedPrompt, reply: str, turn: str) -> tuple[str, str, SealedPrompt]:
    """A reply and a further turn of the same job: the same secrets get the same placeholders.

    Apparent secrets in the reply are the model's own; those that are new in the turn, which quotes tools, are never
    restored in code.
    """
    first = redact(reply, sealed.secrets, values=sealed.values, config=sealed.config, public=reply)
    reply, secrets = neutralize(first.text, first.secrets, sealed.ident)
    second = redact(turn, secrets, values=sealed.values, config=sealed.config, public=reply)
    if first.left or second.left:
        raise _refusal(first, second)
    turn, everything = neutralize(second.text, second.secrets, sealed.ident)
    foreign = {name for name in everything if name not in secrets and not _is_word(name)}
    return reply, turn, replace(sealed, secrets=everything, foreign=sealed.foreign | foreign)


def is_config(request: Request) -> bool:
    """True if the document's format has values without quotes."""
    name = request.path.name.lower() if request.path is not None else ""
    return request.language in CONFIG or name.endswith(_CONFIG_FILES) or _is_dotenv(request)


def _is_dotenv(request: Request) -> bool:
    """True if the document is an `.env` file, by its name or by that of the file it links to."""
    ways = (request.path, real_path(request.path)) if request.path is not None else ()
    return any(is_dotenv(Path(way.name.lower())) for way in ways if way is not None)


def _flat(text: str) -> str:
    """A text without its indentation, since the prompt shows a document dedented."""
    return "\n".join(line.strip() for line in text.split("\n"))


def _is_word(name: str) -> bool:
    """True for the placeholder of a control word, which is no secret."""
    return name.startswith("STET_TOKEN_")


def listed_values(request: Request) -> tuple[str, ...]:
    """The secret values from `.env` files around the document. Reads files: not for an event loop."""
    buffers = [(buffer.path, buffer.text) for buffer in request.workspace.buffers]
    own = values_of(request.source.text, whole=True) if _is_dotenv(request) else ()
    return tuple(dict.fromkeys([*own, *workspace_values(request.workspace.roots, request.path, buffers)]))


def _refusal(document: Redacted, redacted: Redacted) -> PolicyError:
    """The report about a remaining secret: its kind, and its line in the document if it has one."""
    left = redacted.left[0]
    lines = [one.line for one in document.redactions if one.kind == left.kind and one.line is not None]
    where = f"Line {lines[0] + 1}" if lines else "The prompt"
    return PolicyError(f"{where} holds a secret ({left.kind}) that could not be replaced, so nothing was sent.")
