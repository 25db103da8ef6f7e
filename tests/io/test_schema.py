"""Outputs of older and newer versions: what opens, and what is said where it does not."""

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dunno import Tracker, read
from dunno.cli import run
from dunno.errors import InputError
from dunno.io.array_files import open_arrays, write_arrays
from dunno.io.block_files import read_block
from dunno.io.output import read_run, read_written_run
from dunno.io.schema import PAIRS, RUN_SCHEMA, SCHEMAS, Schema
from dunno.review import Decision, Review
from dunno.review.log import Log
from dunno.runs.run import track_into
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking

DOCS = (Path(__file__).parents[2] / "docs" / "files.md").read_text()


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output as this version writes it."""
    folder = tmp_path_factory.mktemp("fresh")
    simulate(cells=8, frames=5, seed=3).save(folder / "01")
    movie = read(folder / "01", masks=folder / "01_GT" / "TRA")
    track_into(Tracker(), movie, folder / "out", ctc=True)
    return folder / "out"


@pytest.fixture
def output(fresh: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fresh, tmp_path / "out"))


def change_run(folder: Path, **fields: Any) -> None:
    content = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**content, **fields}))


def change_blocks(folder: Path, number: int | None) -> None:
    for path in (folder / "pairs").glob("*.npz"):
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored if name != "schema"}
        np.savez(path, **arrays, **({} if number is None else {"schema": np.int64(number)}))


def make_older(folder: Path) -> None:
    """Turn an output's run.json into one of schema 1."""
    parameters = json.loads((folder / "run.json").read_text())["parameters"]
    del parameters["joint"]
    change_run(folder, schema=1, parameters=parameters)
    (folder / "calibration.json").unlink()


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a command ends with."""
    assert run([str(each) for each in arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_what_is_read_is_accepted_and_anything_else_refused_in_one_line() -> None:
    schema = Schema("run.json", 4, 2, "track the movie again")
    for number in (2, 3, 4):
        schema.check(number, "OUT/run.json")
    for number, message in (
        (1, "was written by an older version of dunno (schema 1; this one reads 2 to 4); track the movie again"),
        (
            5,
            "was written by a newer version of dunno (schema 5; this one reads 2 to 4); update dunno, "
            "or track the movie again",
        ),
        ("two", "has the schema 'two', expected a whole number from 1; track the movie again"),
        (None, "has the schema None, expected a whole number from 1; track the movie again"),
        (True, "has the schema True, expected a whole number from 1; track the movie again"),
        (0, "has the schema 0, expected a whole number from 1; track the movie again"),
    ):
        with pytest.raises(InputError, match=re.escape(f"OUT/run.json: {message}") + "$"):
            schema.check(number, "OUT/run.json")


def test_this_version_reads_what_it_writes(output: Path) -> None:
    assert all(1 <= schema.oldest <= schema.number for schema in SCHEMAS)
    assert read_written_run(output)["schema"] == RUN_SCHEMA.number
    for path in (output / "pairs").iterdir():
        with np.load(path) as arrays:
            assert arrays["schema"] == PAIRS.number


def test_an_older_output_opens_as_if_it_were_new(fresh: Path, output: Path) -> None:
    make_older(output)
    before, after = Tracking.read(fresh), Tracking.read(output)
    assert before.about == after.about
    assert len(before.pairs) == len(after.pairs) == 4
    for one, other in zip(before.pairs, after.pairs, strict=True):
        np.testing.assert_array_equal(one.log_probability, other.log_probability)
        np.testing.assert_array_equal(one.selected, other.selected)
    assert len(after.sample(3)) == 3


def test_an_older_output_is_reported_reviewed_and_exported(output: Path, tmp_path: Path) -> None:
    make_older(output)
    assert run(["report", str(output)]) == 0
    with Review.open(output, who="ada") as review:
        question = review.next()
        review.answer(Decision("no mother", question.frame, question.label), question)
    assert run(["review", str(output), "--export", str(tmp_path / "reviewed")]) == 0
    assert read_written_run(tmp_path / "reviewed")["schema"] == RUN_SCHEMA.number
    assert json.loads((output / "run.json").read_text())["schema"] == 1  # what is there stays as it is


def test_a_review_begun_with_an_older_version_goes_on(output: Path) -> None:
    make_older(output)
    parameters = json.loads((output / "run.json").read_text())["parameters"]
    known_as = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:16]
    log = Log(output, "ada", {"review_of": known_as})
    log.answer(Decision("no mother", 1, 1), {"mothers": {}, "no_mother": 0.0, "decision": None}, None)
    log.close()
    with Review.open(output, who="bob") as review:
        assert review.n_answered == 1


@pytest.mark.parametrize("command", [["report"], ["review", "--export", "elsewhere"]])
def test_a_newer_output_is_refused_in_one_line(
    output: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    change_run(output, schema=RUN_SCHEMA.number + 1, parameters="of another form")
    assert complaint(capsys, command[0], output, *command[1:]).endswith(
        f"run.json: was written by a newer version of dunno (schema {RUN_SCHEMA.number + 1}; "
        f"this one reads 1 to {RUN_SCHEMA.number}); update dunno, or track the movie again"
    )
    with pytest.raises(InputError, match=r"run\.json: was written by a newer version"):
        Tracking.read(output)


def test_newer_pairs_are_refused_with_their_file(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_blocks(output, PAIRS.number + 1)
    line = complaint(capsys, "report", output)
    known = rf"schema {PAIRS.number + 1}; this one reads {PAIRS.number}"
    assert re.search(rf"000000\.npz: was written by a newer version of dunno \({known}\)", line)


def test_pairs_that_are_too_old_are_refused_with_their_file(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change_blocks(output, None)
    monkeypatch.setattr("dunno.io.block_files.PAIRS", Schema("pairs/", 3, 2, "track the movie again"))
    message = (
        r"000000\.npz: was written by an older version of dunno \(schema 1; this one reads 2 to 3\); track the movie"
    )
    with pytest.raises(InputError, match=message):
        read_block(output / "pairs" / "000000.npz")


def test_the_blocks_of_an_older_version_are_refused_and_its_review_stays(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Review.open(output, who="ada") as review:
        question = review.next()
        review.answer(Decision("no mother", question.frame, question.label), question)
    log = (output / "review.jsonl").read_bytes()
    change_blocks(output, 3)
    for command in ("review", "report"):
        line = complaint(capsys, command, output)
        assert "was written by an older version of dunno (schema 3; this one reads 4); track the movie again" in line
    assert (output / "review.jsonl").read_bytes() == log


def test_a_newer_review_is_refused_and_left_alone(output: Path) -> None:
    with Review.open(output, who="ada"):
        pass
    lines = (output / "review.jsonl").read_text().replace('"schema": 1', '"schema": 2')
    (output / "review.jsonl").write_text(lines)
    with pytest.raises(InputError, match=r"review\.jsonl: was written by a newer version .* update dunno, or export"):
        Review.open(output, who="ada")
    assert (output / "review.jsonl").read_text() == lines


def test_arrays_come_back_and_a_broken_file_is_named(tmp_path: Path) -> None:
    schema = Schema("numbers/", 2, 1, "count again")
    write_arrays(tmp_path / "a.npz", schema, {"x": np.arange(3)})
    with open_arrays(tmp_path / "a.npz", schema) as arrays:
        assert arrays["x"].tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-40])
    with (
        pytest.raises(InputError, match=r"a\.npz: cannot be read .*; count again"),
        open_arrays(tmp_path / "a.npz", schema),
    ):
        pass


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.file)
def test_the_docs_have_the_numbers(schema: Schema) -> None:
    row = next(line for line in DOCS.splitlines() if line.startswith(f"| `{schema.file}` |"))
    reads = str(schema.number) if schema.oldest == schema.number else f"{schema.oldest} to {schema.number}"
    assert row.endswith(f"| {schema.number} | {reads} |")
    assert f"\n## `{schema.file}`\n" in DOCS


def test_the_docs_have_every_file_column_and_array(output: Path) -> None:
    names = {path.name + ("/" if path.is_dir() and path.suffix == "" else "") for path in output.iterdir()}
    content = json.loads((output / "run.json").read_text())
    names |= {*content, *content["parameters"], *content["summary"]}
    for table in output.glob("*.csv"):
        names |= set(table.read_text().splitlines()[0].split(","))
    for path in output.glob("*/*.npz"):
        with np.load(path) as arrays:
            names |= set(arrays)
    undocumented = sorted(name for name in names if f"`{name}`" not in DOCS and not name.endswith("_parameters"))
    assert undocumented == []


@pytest.mark.parametrize(
    "content", ["[]", "3", '{"parameters": 3}', '{"parameters": {"frames": [0, 1]}}', "[" * 100_000]
)
def test_a_run_of_another_form_gets_one_clear_line(
    output: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (output / "run.json").write_text(content)
    for command in ("report", "review"):
        assert "run.json" in complaint(capsys, command, output)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("frames", []),
        ("frames", ["a"]),
        ("step", 0),
        ("scale", "x"),
        ("movie_path", 3),
        ("cost", None),
        ("seed", "x"),
        ("evidence", [1]),
    ],
)
def test_a_parameter_of_another_form_is_named(output: Path, name: str, value: object) -> None:
    about = json.loads((output / "run.json").read_text())["parameters"]
    change_run(output, parameters={**about, name: value})
    with pytest.raises(InputError, match=rf"run.json: {name}\b.* is .*; track the"):
        read_run(output)
