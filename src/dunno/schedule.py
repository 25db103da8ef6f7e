"""Running independent pieces of work, with few in flight, here or on a cluster."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from dunno import _core
from dunno.errors import InputError, MissingExtra

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


def as_finished(
    function: Callable[[Item], Result], items: Iterable[Item], executor: Executor, in_flight: int
) -> Iterator[tuple[Item, Result | BaseException]]:
    """Yield each item with what `function(item)` gave or raised, in the order in which they end.

    One failing item does not stop the others. Arguments as for `in_order`.
    """
    waiting: dict[Future[Result], Item] = {}
    remaining = iter(items)
    try:
        while True:
            while len(waiting) < in_flight and (item := next(remaining, None)) is not None:
                waiting[executor.submit(function, item)] = item
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.exception() or future.result()
    except KeyboardInterrupt:
        _core.request_stop(True)
        raise
    finally:
        for future in waiting:
            future.cancel()
        wait([future for future in waiting if not future.cancelled()])
        _core.request_stop(False)


@contextmanager
def open_executor(workers: int, dask: str | None = None, *, processes: bool = False) -> Iterator[tuple[Executor, int]]:
    """Open an executor and say how many workers it has.

    Args:
        workers: Threads to use here.
        dask: Address of a Dask scheduler to use instead; what runs there must pickle, and finds its files by itself.
        processes: Use processes here instead of threads, for work that holds Python's lock; it must pickle too.
    """
    if dask is None:
        with _processes(workers) if processes else ThreadPoolExecutor(workers) as executor:
            yield executor, workers
        return
    with _client(dask) as client:
        yield client.get_executor(pure=False), max(sum(client.nthreads().values()), 1)


def _processes(workers: int) -> ProcessPoolExecutor:
    """Processes that start anew: forking one with threads may hang."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_settle)


def _settle() -> None:
    """Let Ctrl-C end a worker process at once, without a word, and torch keep to one core in each of them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("a Dask cluster needs distributed: pip install 'dunno[dask]'") from None
    try:
        return Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({error}); expected tcp://host:8786") from None
