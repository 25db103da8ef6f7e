import time
from pathlib import Path

import pytest

from dunno.work.progress import LogFile, Meter, Progress, clock, memory_in_use, now_and_then, tell_all


def test_speed_and_time_left_leave_out_what_was_done_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    meter = Meter()
    assert meter.read("tracking", 600, 1000).per_second == 0
    assert meter.read("tracking", 600, 1000).seconds_left is None
    now = 110.0
    told = meter.read("tracking", 700, 1000)
    assert (told.per_second, told.seconds_left, told.seconds) == (10.0, 30.0, 10.0)
    assert meter.read("writing", 0, 5).per_second == 0


def test_progress_is_told_in_one_line() -> None:
    assert str(Progress("tracking frames", 1200, 10000, 60, 20.0, 440, 300 << 20)) == (
        "tracking frames: 1,200 of 10,000, 20 per second, 7:20 min left, 300 MB"
    )
    assert str(Progress("fitting, rounds", 3, 0, 1, 0, None, None)) == "fitting, rounds: 3"


def test_durations_are_told_as_people_do() -> None:
    assert [clock(seconds) for seconds in (0.2, 59, 61, 3599, 7500)] == [
        "0 s",
        "59 s",
        "1:01 min",
        "59:59 min",
        "2:05 h",
    ]


def test_memory_grows_with_what_is_held() -> None:
    before = memory_in_use()
    held = bytearray(b"x" * (64 << 20))
    after = memory_in_use()
    assert before is not None
    assert after is not None
    assert after - before > 32 << 20
    del held


def test_listeners_hear_the_first_and_the_last_word_of_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, int]] = []
    listen = now_and_then(lambda progress: heard.append((progress.stage, progress.done)), 1000)
    tell = tell_all(listen)
    for stage in ("a", "b"):
        for done in range(5):
            tell(stage, done, 4)
    assert heard == [("a", 0), ("a", 4), ("b", 0), ("b", 4)]


def test_a_log_is_added_to_and_never_in_the_way(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "out.log")
    log.note("one")
    LogFile(tmp_path / "out.log").note("two")
    assert [line.split("  ")[1] for line in (tmp_path / "out.log").read_text().splitlines()] == ["one", "two"]
    LogFile(tmp_path / "nowhere" / "out.log").note("lost")
    log.forget()
    assert not (tmp_path / "out.log").exists()
