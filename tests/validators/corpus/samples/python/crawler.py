"""Fetches pages side by side and remembers what linked to what."""

import asyncio
import re
from functools import lru_cache, wraps
from urllib.parse import urljoin, urlsplit

LINK = re.compile(r"""<a\s+[^>]*href=["']([^"']+)["']""", re.IGNORECASE)
SKIPPED = (".png", ".jpg", ".zip")
limit = 10


def retry(times, *, wait=0.1):
    def decorate(function):
        @wraps(function)
        async def call(*args, **kwargs):
            for attempt in range(times):
                try:
                    return await function(*args, **kwargs)
                except OSError:
                    if attempt + 1 == times:
                        raise
                    await asyncio.sleep(wait * 2**attempt)
                else:
                    break
            return None

        return call

    return decorate


@lru_cache(maxsize=128)
def host(address: str) -> str:
    return urlsplit(address).netloc.lower()


def links(base: str, html: str) -> set[str]:
    found = set()
    for match in LINK.finditer(html):
        target = urljoin(base, match.group(1)).split("#")[0]
        if target.endswith(SKIPPED) or host(target) != host(base):
            continue
        found.add(target)
    return found


class Crawler:
    pages: dict

    def __init__(self, fetch, start, depth=2):
        self.fetch = fetch
        self.start = start
        self.depth = depth
        self.graph = {}
        self._queue = None

    async def run(self):
        self._queue = asyncio.Queue()
        await self._queue.put((self.start, 0))
        workers = [asyncio.create_task(self._work(number)) for number in range(4)]
        await self._queue.join()
        for worker in workers:
            worker.cancel()
        return {page: sorted(targets) for page, targets in self.graph.items()}

    async def _work(self, number):
        while True:
            address, depth = await self._queue.get()
            try:
                if address in self.graph or depth > self.depth:
                    continue
                self.graph[address] = set()
                async with self.fetch(address) as response:
                    kind, *_ = response.kind.split(";", 1)
                    match kind.strip(), response.status:
                        case "text/html", 200:
                            text = await response.text()
                        case "text/html", 301 | 302 as status:
                            text = f'<a href="{response.location}">moved {status}</a>'
                        case (("image/png" | "image/jpeg"), _):
                            continue
                        case _ if response.status >= 500:
                            raise OSError(response.status)
                        case _:
                            text = ""
                self.graph[address] |= links(address, text)
                for target in self.graph[address]:
                    await self._queue.put((target, depth + 1))
            finally:
                self._queue.task_done()

    def ranks(self, rounds=20, damping=0.85):
        count = max(len(self.graph), 1)
        ranks = dict.fromkeys(self.graph, 1 / count)
        for _ in range(rounds):
            fresh = {page: (1 - damping) / count for page in ranks if page in self.graph}
            for page, targets in self.graph.items():
                inside = [target for target in targets if target in self.graph]
                for target in inside:
                    fresh[target] += damping * ranks[page] / len(inside)
            ranks = fresh
        return ranks


def set_limit(value):
    global limit
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"a limit is a number above nought, not {value!r}")
    limit = value if value < 1000 else 1000


def best(ranks, *, least=0.0):
    assert ranks is not None
    return max((page for page in ranks if ranks[page] >= least), key=ranks.get, default=None)


if __name__ == "__main__":
    import sys

    print(links("http://localhost/", sys.stdin.read()), file=sys.stderr)
