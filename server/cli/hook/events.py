"""What is done at each hook event: record its base, inform after an edit, judge at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.read_trees import EMPTY_TREE, ChangeQuery
from stet_ls.engine.verify.changes.tree import Tree
from stet_ls.engine.verify.changes.trees import FolderTree, GitTree
from stet_ls.engine.workspace.git import git, project_top, repository
from stet_ls.server.cli.agents.agent import Agent, Answer, HookEvent
from stet_ls.server.cli.agents.agent_table import AGENTS
from stet_ls.server.cli.hook import recorded_tree, sessions
from stet_ls.server.cli.hook.payload import Payload
from stet_ls.server.cli.hook.refusal_text import VerifiedChange, refusal

Handler = Callable[[Agent, Payload], Awaitable[Answer]]

_SETTINGS = (".stet.toml",)


async def begin(agent: Agent, payload: Payload) -> Answer:
    """Records the tree that the session begins with; a session that is resumed keeps its own."""
    await asyncio.to_thread(_begin, agent, payload)
    return {}


def _begin(agent: Agent, payload: Payload) -> None:
    assert payload.folder is not None
    root = project_top(payload.folder)
    with sessions.session_record(agent.name, payload.session, root) as rows:
        if not (rows and rows[0].base and recorded_tree.tree_named(Path(rows[0].root), rows[0].base)):
            rows[:] = [sessions.Session(agent.name, payload.session, str(root), recorded_tree.record_tree(root))]


async def prompted(agent: Agent, payload: Payload) -> Answer:
    """A new prompt: refusals count from zero, unless the prompt is the last of them."""
    await asyncio.to_thread(_begin, agent, payload)
    _reset(agent, payload)
    return {}


async def edited(agent: Agent, payload: Payload) -> Answer:
    """Informs about what an edit has broken."""
    from stet_ls.server.cli.hook import after_edit

    if not payload.files:
        return {}
    root, base = await asyncio.to_thread(_base, agent, payload)
    lines = await after_edit.findings(root, base, payload.files)
    if not lines:
        return {}
    digest = sha256("\n".join(lines).encode()).hexdigest()
    given = sessions.claim(root, "edit", digest, agent.name)
    if given is not None and _runs_same_hook(agent, given.owner):
        return {}
    sessions.settle(root, "edit", digest, "told", "")
    # Importing what cleans a text takes longer than all the rest, and most edits have no findings.
    from stet_ls.server.cli.agents.fenced import MOST_CHARACTERS, fence

    text = f"Stet checked this edit:\n{fence(lines, MOST_CHARACTERS - 100)}"
    return {"reason": text} if agent.output.is_text else agent.output.context(text)


async def stopped(agent: Agent, payload: Payload) -> Answer:
    """Judges all that changed since the session began, and refuses the end of the turn if that is refuted."""
    root, base = await asyncio.to_thread(_base, agent, payload)
    head = await asyncio.to_thread(recorded_tree.tree_on_disk, root)
    names = recorded_tree.name_of(base), recorded_tree.name_of(head)
    if names[0] == names[1]:
        return {}
    given = sessions.claim(root, *names, agent.name)
    if given is not None and _runs_same_hook(agent, given.owner):
        return {}
    is_new = given is None or not given.verdict
    if given is None or is_new:
        given = await _judged(agent, root, base, head, names)
    if payload.loops == 0:
        _reset(agent, payload)
    if given.verdict == VerifiedChange.REFUTED:
        return _refused(agent, payload, root, given)
    touched = _touched(agent, base, head) if is_new and not agent.output.is_text else ()
    return agent.output.notify("; ".join(touched)) if touched else {}


async def _judged(agent: Agent, root: Path, base: Tree, head: Tree, names: tuple[str, str]) -> sessions.GivenAnswer:
    from stet_ls.server.cli.hook.verifying import verified_outcome

    try:
        outcome = await verified_outcome(ChangeQuery(root, base_tree=base), agent.seconds_at_stop)
    except BaseException:
        sessions.release(root, *names)
        raise
    text = refusal(replace(outcome, notes=(*_touched(agent, base, head), *outcome.notes)))
    sessions.settle(root, *names, outcome.conclusion, text)
    return sessions.GivenAnswer(*names, agent.name, outcome.conclusion, text)


def _refused(agent: Agent, payload: Payload, root: Path, given: sessions.GivenAnswer) -> Answer:
    if agent.output.is_text:
        return {"reason": given.text}
    with sessions.session_record(agent.name, payload.session, root) as rows:
        row = rows[0] if rows else sessions.Session(agent.name, payload.session, str(root))
        if row.refusals >= sessions.MOST_REFUSALS:
            return agent.output.notify(
                f"The change is still refuted after {sessions.MOST_REFUSALS} turns. {given.text}"
            )
        rows[:] = [replace(row, refusals=row.refusals + 1, refusal=given.text.partition("\n")[0])]
    return agent.output.refuse(given.text)


async def committing(agent: Agent, payload: Payload) -> Answer:
    """Judges the staged tree."""
    from stet_ls.server.cli.hook.verifying import verified_outcome

    assert payload.folder is not None
    outcome = await verified_outcome(ChangeQuery(payload.folder, staged=True), agent.seconds_at_stop)
    staged = replace(outcome, base="HEAD", option="--staged")
    return {"reason": refusal(staged)} if outcome.conclusion == VerifiedChange.REFUTED else {}


HANDLERS: Mapping[HookEvent, Handler] = {
    HookEvent.START: begin,
    HookEvent.PROMPT: prompted,
    HookEvent.EDIT: edited,
    HookEvent.STOP: stopped,
    HookEvent.COMMIT: committing,
}


def _base(agent: Agent, payload: Payload) -> tuple[Path, Tree]:
    """The root of the session and the tree that it began with, else that of the last commit."""
    assert payload.folder is not None
    root = project_top(payload.folder)
    with sessions.session_record(agent.name, payload.session, root) as rows:
        row = rows[0] if rows else None
    if row is not None and (tree := recorded_tree.tree_named(Path(row.root), row.base)) is not None:
        return Path(row.root), tree
    if repository(root) is None:
        raise UsageError("no state was recorded when the session began, and there is no git repository")
    revision = _last_commit_of_a_person(root) if agent.output.is_text else "HEAD"
    known = git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").status == 0
    return root, GitTree(root, revision, revision) if known else FolderTree(root, EMPTY_TREE, ())


def _last_commit_of_a_person(root: Path) -> str:
    """The newest commit that aider did not make: it signs its own as author, committer or co-author."""
    log = git(root, "log", "--no-show-signature", "--max-count=200", "--format=%H%x1f%an%x1f%cn%x1f%b%x00")
    for row in log.stdout.decode("utf-8", "replace").split("\0"):
        commit, _, rest = row.strip().partition("\x1f")
        author, _, more = rest.partition("\x1f")
        committer, _, body = more.partition("\x1f")
        if commit and not (
            author.endswith("(aider)") or committer.endswith("(aider)") or "Co-authored-by: aider" in body
        ):
            return commit
    return "HEAD"


def _touched(agent: Agent, base: Tree, head: Tree) -> tuple[str, ...]:
    """Notes about changes of Stet's own settings and hooks: the user decides about these."""
    watched = [path for path in (*_SETTINGS, agent.hooks.project) if base.files.get(path) != head.files.get(path)]
    return tuple(f"`{path}` changed: it holds settings of Stet" for path in watched)


def _reset(agent: Agent, payload: Payload) -> None:
    assert payload.folder is not None
    root = project_top(payload.folder)
    with suppress(OSError), sessions.session_record(agent.name, payload.session, root) as rows:
        rows[:] = [row if _is_refusal(payload.prompt, row) else replace(row, refusals=0) for row in rows]


def _is_refusal(prompt: str, row: sessions.Session) -> bool:
    """Whether a prompt is what the hook answered: some agents hand that on as if a user had written it."""
    return bool(row.refusal) and prompt.startswith(row.refusal)


def _runs_same_hook(agent: Agent, other: str) -> bool:
    """Whether another agent's hook was called for the same event, since one product runs both files."""
    return other != agent.name and (other in agent.also_reads or agent.name in AGENTS[other].also_reads)
