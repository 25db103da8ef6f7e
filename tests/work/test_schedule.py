import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from dunno.errors import InputError
from dunno.work import schedule
from dunno.work.schedule import Pool, as_finished, in_order, open_pool


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    with ThreadPoolExecutor(4) as executor:
        assert list(in_order(slow_first, range(20), Pool(executor, 4))) == [i * i for i in range(20)]


def test_no_more_than_the_bound_is_in_flight() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for i in range(100):
            taken += 1
            yield i

    with ThreadPoolExecutor(2) as executor:
        for used, _ in enumerate(in_order(lambda item: item, items(), Pool(executor, 2)), 1):
            assert taken <= used + 4


def test_an_error_reaches_the_caller_and_the_rest_is_dropped() -> None:
    done = []

    def work(item: int) -> int:
        if item == 3:
            raise ValueError("three")
        done.append(item)
        return item

    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="three"):
        list(in_order(work, range(1000), Pool(executor, 2)))
    assert max(done) < 10


def test_leaving_early_waits_for_what_runs_and_cancels_the_rest() -> None:
    running = threading.Event()

    def work(item: int) -> int:
        running.set()
        return item

    with ThreadPoolExecutor(1) as executor:
        stream = in_order(work, range(1000), Pool(executor, 2))
        assert next(stream) == 0
        stream.close()
    assert running.is_set()


def test_one_failure_does_not_stop_the_others() -> None:
    def refuses_two(item: int) -> int:
        if item == 2:
            raise ValueError("two")
        return item * 10

    with ThreadPoolExecutor(2) as executor:
        found = dict(as_finished(refuses_two, range(5), Pool(executor, 2)))
    assert {item: value for item, value in found.items() if item != 2} == {0: 0, 1: 10, 3: 30, 4: 40}
    assert isinstance(found[2], ValueError)


def test_finished_work_does_not_wait_for_slow_work() -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.3 if item == 0 else 0)
        return item

    with ThreadPoolExecutor(2) as executor:
        assert next(iter(as_finished(slow_first, range(5), Pool(executor, 2))))[0] != 0


def test_processes_are_not_this_one_and_say_how_many_they_are() -> None:
    with open_pool(2, processes=True) as pool:
        assert pool.workers == 2
        assert pool.submit(os.getpid).result() != os.getpid()
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == os.environ.get("OMP_NUM_THREADS", "1")


def test_a_dask_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(schedule, "SECONDS_TO_ANSWER", 0.5)
    with (
        pytest.raises(InputError, match="--dask tcp://127.0.0.1:1: no scheduler"),
        open_pool(1, "tcp://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_file_that_is_not_there_is_named() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="--dask nofile.json: there is no such file"), open_pool(1, "nofile.json"):
        pass


def test_stopping_processes_ends_without_a_word_from_their_pool(capfd: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), open_pool(2, processes=True) as pool:
        working = as_finished(time.sleep, [0.0, *[30.0] * 4], pool)
        next(working)
        working.throw(KeyboardInterrupt)  # as Ctrl-C would, while it waits
    assert "Traceback" not in capfd.readouterr().err
    assert time.monotonic() - began < 20  # not the half minute that the work would have taken
