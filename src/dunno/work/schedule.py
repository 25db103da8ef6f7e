"""Running independent pieces of work, with few in flight, here or on a cluster."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from dunno import _core
from dunno.errors import InputError, MissingExtra, WorkerLost

Item = TypeVar("Item")
Result = TypeVar("Result")


SECONDS_TO_BREAK = 5.0
"""How long a pool may take to notice that its processes were ended."""
SECONDS_TO_ANSWER = 10.0
"""How long a Dask scheduler may take to answer the first time."""


class Pool(Executor):
    """An executor, with what is to be known of its workers.

    Attributes:
        is_here: Whether they write where this process does; those of an executor that dunno does not know might be anywhere.
        shares_memory: Whether what they return is not sent.
    """

    def __init__(self, executor: Executor, workers: int) -> None:
        self._executor, self._workers = executor, workers
        self.is_here = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
        self.shares_memory = isinstance(executor, ThreadPoolExecutor)

    @classmethod
    def of(cls, executor: Executor, workers: int) -> "Pool":
        """The pool that was given, or a pool of an executor of somebody's own."""
        return executor if isinstance(executor, Pool) else cls(executor, workers)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Run a call on some worker."""
        return self._executor.submit(function, *arguments, **named)

    @property
    def workers(self) -> int:
        """How many there are."""
        return self._workers

    @property
    def room(self) -> int:
        """How much work to keep in flight: two pieces per worker, so that none waits."""
        return 2 * self.workers

    def stop(self, waiting: "Iterable[Future[Any]]" = ()) -> None:
        """End work that runs, where that can be done without losing more than it."""
        _core.request_stop(True)
        # there is no public door to them
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        for process in processes:
            process.terminate()
        if processes:  # the pool breaks and ends all futures itself, and stumbles over one that is cancelled meanwhile
            wait(list(waiting), timeout=SECONDS_TO_BREAK)


def in_order(function: Callable[[Item], Result], items: Iterable[Item], pool: Pool) -> Iterator[Result]:
    """Yield `function(item)` for each item, in the items' order, no more submitted at a time than there is room for.

    `Executor.map` would submit everything at once and hold every result that nobody has asked for yet. The function must pickle
    if the pool runs processes; the pool is left running.
    """
    waiting: deque[Future[Result]] = deque()
    remaining = iter(items)
    try:
        for item in remaining:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= pool.room:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except (KeyboardInterrupt, SystemExit):
        pool.stop(waiting)
        raise
    except (BrokenExecutor, CancelledError) as error:
        raise _lost(error) from None
    finally:
        _abandon(waiting)


def as_finished(
    function: Callable[[Item], Result], items: Iterable[Item], pool: Pool
) -> Iterator[tuple[Item, Result | BaseException]]:
    """Yield each item with what `function(item)` gave or raised, in the order in which they end.

    One failing item does not stop the others. Arguments as for `in_order`.
    """
    waiting: dict[Future[Result], Item] = {}
    remaining = iter(items)
    try:
        while True:
            while len(waiting) < pool.room and (item := next(remaining, None)) is not None:
                waiting[pool.submit(function, item)] = item
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), _outcome(future)
    except (KeyboardInterrupt, SystemExit):
        pool.stop(waiting)
        raise
    except BrokenExecutor as error:
        raise _lost(error) from None
    finally:
        _abandon(waiting)


def _outcome(future: "Future[Any]") -> Any:
    try:
        error = future.exception()
    except CancelledError as cancelled:
        return _lost(cancelled)
    if error is None:
        return future.result()
    gone = isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "CommClosedError")
    return _lost(error) if gone else error


def _lost(error: BaseException) -> WorkerLost:
    why = " ".join(str(error).split()) or type(error).__name__
    return WorkerLost(f"a worker was lost, perhaps for want of memory ({why})")


def _abandon(waiting: "Iterable[Future[Any]]") -> None:
    """Cancel what has not begun, and wait for what has: it uses files and memory."""
    running = [future for future in waiting if not future.cancel()]
    wait(running)
    _core.request_stop(False)


def count_workers(asked: int | None = None) -> int:
    """As many as were asked for, or as this process has cores."""
    if asked is not None and asked < 1:
        raise InputError(f"workers is {asked}; expected at least 1")
    return asked or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@contextmanager
def open_pool(workers: int, dask: str | None = None, *, processes: bool = False) -> Iterator[Pool]:
    """Open a pool of workers.

    `dask` is the address of a scheduler, or its file (.json). What runs in processes must pickle; on Dask it finds its files
    itself.
    """
    if dask is not None:
        with _client(dask) as client:
            yield Cluster(client)
    elif processes:
        with ProcessPoolExecutor(workers, get_context("spawn"), _begin_process, (os.getpid(),)) as executor:
            pool = Pool(executor, workers)
            try:
                yield pool
            except (KeyboardInterrupt, SystemExit):
                pool.stop()
                _core.request_stop(False)
                raise
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="dunno") as executor:
            yield Pool(executor, workers)


def _begin_process(starter: int) -> None:
    """Leave Ctrl-C to the process that started this one, end with it however it ends, and let torch keep to one core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Cluster(Pool):
    """A Dask cluster, which knows how many workers it has at the moment."""

    def __init__(self, client: Any) -> None:
        super().__init__(client.get_executor(pure=False), 0)
        self._client = client

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Run a call on some worker."""
        with _saying_if_gone():
            return super().submit(function, *arguments, **named)

    @property
    def workers(self) -> int:
        """Threads of all workers, at least one: they may still be on their way."""
        with _saying_if_gone():
            return max(int(sum(self._client.nthreads().values())), 1)


@contextmanager
def _saying_if_gone() -> Iterator[None]:
    """A lost connection is an OSError, which would look like a full disk."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise WorkerLost(f"the Dask scheduler does not answer any more ({error})") from None


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("a Dask cluster needs distributed: pip install 'dunno[dask]'") from None
    place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    if "scheduler_file" in place and not os.path.isfile(address):  # distributed would wait for it for ever
        raise InputError(
            f"--dask {address}: there is no such file; expected one that `dask scheduler --scheduler-file` made"
        )
    try:
        return Client(**place, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({error}); expected tcp://host:8786") from None
