"""Running independent pieces of work, in order and with few in flight."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

from dunno import _core

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], executor: Executor, in_flight: int
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in the items' order, at most `in_flight` submitted at a time.

    `Executor.map` would submit everything at once and hold every result that nobody has asked for yet.

    Args:
        function: What to do; must pickle if the executor runs processes.
        items: What to do it with; read as needed.
        executor: Any `concurrent.futures.Executor`, left running.
        in_flight: Upper bound on submitted and unread work.
    """
    waiting: deque[Future[Result]] = deque()
    remaining = iter(items)
    try:
        for item in remaining:
            waiting.append(executor.submit(function, item))
            if len(waiting) >= in_flight:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except KeyboardInterrupt:
        _core.request_stop(True)
        raise
    finally:
        for future in waiting:
            future.cancel()
        for future in waiting:
            if not future.cancelled():
                future.exception()
        _core.request_stop(False)
