"""Inputs for JavaScript reach what code asks of them: handled errors, results that it reads, keys, subclasses."""

from __future__ import annotations

from stet_ls.engine.execution.javascript.inputs.calls import calls_for

ENOUGH = 12


def setups(text: str, unit: str) -> list[str]:
    """What each call sets up."""
    return [f"{call.setup}\n{call.body}" for call in calls_for(text, "javascript", unit)]


def count(text: str, unit: str, *parts: str) -> int:
    """In how many calls all of these parts are."""
    return sum(all(part in each for part in parts) for each in setups(text, unit))


PRICE = """
export async function priceOf(shop, sku, fallback) {
  try {
    return await shop.price(sku);
  } catch (error) {
    if (error.code === "TIMEOUT" || error instanceof RangeError) return fallback;
    throw error;
  }
}
"""


def test_a_method_fails_with_the_errors_that_the_code_handles() -> None:
    assert count(PRICE, "priceOf", "async", '{ code: "TIMEOUT" }') >= ENOUGH
    assert count(PRICE, "priceOf", "async", 'new RangeError("failed")') >= ENOUGH
    assert count(PRICE, "priceOf", "async", 'throw new Error("failed")') >= 3


def test_code_that_awaits_nothing_gets_functions_that_throw_at_once() -> None:
    text = "function f(parse, s) { try { return parse(s); } catch (e) { return e.status === 404 ? 1 : 2; } }\n"
    assert count(text, "f", "{ status: 404 }", "throw") >= ENOUGH
    assert count(text, "f", "async") == 0


def test_code_that_handles_no_error_gets_no_function_that_fails() -> None:
    assert count("function f(api, id) { return api.get(id); }\n", "f", "throw") == 0


POLLING = """
export async function waitFor(client, id) {
  for (let n = 0; n < 3; n++) {
    const job = await client.job(id);
    if (job.state === "done") return job.result.trim();
    if (job.state === "failed") throw new Error(job.reason);
  }
}
"""


def test_a_method_gives_what_the_code_reads_of_its_result() -> None:
    assert count(POLLING, "waitFor", "async () =>", 'state: "done"', 'result: "') >= ENOUGH
    assert count(POLLING, "waitFor", "async () =>", 'state: "failed"') >= ENOUGH


def test_so_it_does_for_what_is_taken_apart_or_passed_on() -> None:
    parts = "async function f(api) { const { nick, name: full } = await api.user(); return nick || full; }\n"
    assert count(parts, "f", "async () =>", "nick: ", "name: ") >= ENOUGH
    passed = "function f(api) { return api.user().then((user) => user.nick || user.name); }\n"
    assert count(passed, "f", "async () =>", "nick: ", "name: ") >= ENOUGH


def test_an_object_whose_keys_are_listed_has_those_that_the_code_names_and_others() -> None:
    text = "function f(o) { return Object.keys(o).filter((key) => key !== 'editor').concat(o.editor); }\n"
    assert count(text, "f", "editor: ", "b: ") >= ENOUGH


def test_fields_of_fields_have_the_kind_of_their_use() -> None:
    text = "function f(order) { return order.customer.name.split(' ')[0] + order.customer.age * 2; }\n"
    assert count(text, "f", "customer: {age: ", 'name: "') >= ENOUGH


def test_objects_of_a_subclass_are_made_too() -> None:
    text = (
        "class Ticket {\n  static issued = 0;\n  constructor(holder) { this.holder = holder; }\n"
        "  label() { return this.holder; }\n}\nclass DayTicket extends Ticket {}\n"
    )
    assert count(text, "Ticket.label", "new DayTicket(") >= 6
    assert count(text, "Ticket.label", "new Ticket(") >= ENOUGH
