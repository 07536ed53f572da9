"""What a user reads of a fault: no key in it, no word torn by one, and the setting that ran out with what it is."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.events import Requested
from stet_ls.engine.errors import EndpointError, Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure, without_secrets

REAL = "sk-9f8e7d6c5b4a"


@pytest.mark.parametrize(
    ("secret", "said", "message"),
    [
        (REAL, f"bad key{REAL}, ({REAL})", "bad key[key], ([key])"),
        ("8letters", "no key=8letters8letters", "no key=[key][key]"),
        # What is short is taken out only where it is a word.
        ("none", "nonesuch: none, 'none'", "nonesuch: [key], '[key]'"),
        ("sk-1", "task-1: Bearer sk-1.", "task-1: Bearer [key]."),
        # What is no secret garbles nothing.
        ("a", "a web page; the address lacks its path", "a web page; the address lacks its path"),
        ("no", "no model is not known", "no model is not known"),
    ],
)
def test_keys_are_removed_from_messages_and_other_words_kept(secret: str, said: str, message: str) -> None:
    assert without_secrets(EndpointFailure(Fault.SERVER, said), (secret,)).detail == message


def test_a_secret_within_another_is_removed_completely() -> None:
    assert without_secrets(EndpointFailure(Fault.SERVER, f"{REAL}-longer"), (REAL, f"{REAL}-longer")).detail == "[key]"


async def test_a_key_of_one_letter_does_not_change_the_message(scripted: ScriptedModel, pool, provider) -> None:
    scripted.default = Reply(mode="html", text="<p>a page</p>")
    asker = pool(provider.model_copy(update={"api_key": SecretStr("a")}))
    with pytest.raises(EndpointError, match="a web page; the address lacks its version path") as raised:
        await asker.ask()
    assert "[key]" not in str(raised.value)
    heads = [event.head for event in asker.events if isinstance(event, Requested)]
    assert heads
    assert all(b"<p>a page</p>".startswith(head) for head in heads)


async def test_no_message_and_no_kept_reply_contains_a_real_key(scripted: ScriptedModel, pool, provider) -> None:
    scripted.default = Reply(mode="html", text=f"<p>é {REAL}</p>" + " " * 100)
    asker = pool(provider.model_copy(update={"api_key": SecretStr(REAL)}))
    with pytest.raises(EndpointError):
        await asker.ask()
    heads = [event.head.decode() for event in asker.events if isinstance(event, Requested)]
    assert heads
    assert all(head.startswith("<p>é [key]</p>") for head in heads)


async def test_an_endpoint_that_does_not_begin_is_reported_with_ways_out(scripted: ScriptedModel, pool, hasty) -> None:
    scripted.default = Reply("never", first_delay=60)
    with pytest.raises(EndpointError) as raised:
        await pool(hasty).ask()
    message = str(raised.value)
    assert raised.value.fault is Fault.NO_FIRST_TOKEN
    assert "did not start to reply in time; run `stet doctor`" in message
    assert "`stet model probe`" in message
    assert "`timeout_first_token` in a [[providers]] table (now 1.5 s)" in message


async def test_an_endpoint_that_falls_silent_is_reported_with_ways_out(scripted: ScriptedModel, pool, provider) -> None:
    scripted.reply("a b c", stall_after=2)
    [warning] = (await pool(provider.model_copy(update={"timeout_token": 1.5})).ask()).warnings
    assert "stopped in the middle of its reply; run `stet doctor`" in warning
    assert "`timeout_token` in a [[providers]] table (now 1.5 s)" in warning


async def test_a_timeout_is_reported_with_its_setting(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply("fine"), Reply("never", first_delay=60)])
    await asker.ask()  # loads what takes longer to load than the deadline is
    with pytest.raises(EndpointError, match=r"the setting `deadline` \(now 30 s\)") as raised:
        await asker.ask(deadline=1.5)
    assert raised.value.fault is Fault.DEADLINE
