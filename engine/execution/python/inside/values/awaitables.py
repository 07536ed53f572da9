"""What calls await besides doubles: items that come later, functions as coroutines, and the end of a loop."""

from __future__ import annotations

from typing import Any


class AsyncItems:
    """An asynchronous iterator over items; those that were not taken are in `items`."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        if not self.items:
            raise StopAsyncIteration
        return self.items.pop(0)

    def __repr__(self) -> str:
        return f"<later {self.items!r}>"


def awaited_function(function: Any) -> Any:
    """The function as a coroutine function: of calls that run side by side, earlier ones are done later."""
    turns = [3, 2, 0, 1]

    async def awaited(*args: Any, **kw: Any) -> Any:
        import asyncio

        turns.append(turns.pop(0))
        for _ in range(turns[-1]):
            await asyncio.sleep(0)
        return function(*args, **kw)

    return awaited


class EndOfLoop:
    """What a call of a double gives in a coroutine when it has been made often: awaited, the answer that ends loops."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        return iter(())

    def __await__(self) -> Any:
        yield from ()
        return self.answer

    def send(self, _: Any) -> Any:
        return next(self.__await__())

    def __repr__(self) -> str:
        return repr(self.answer)
