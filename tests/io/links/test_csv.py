from pathlib import Path

import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.io import read_links

from .colony import TRUE_LINKS, as_set


def example(folder: Path, movie: Movie) -> Path:
    rows = "".join(f"{','.join(map(str, link))}\n" for link in sorted(TRUE_LINKS, reverse=True))
    (folder / "links.csv").write_text("mother_frame,mother,frame,daughter\n" + rows)
    return folder / "links.csv"


def test_a_table_gives_links_and_lists_what_is_no_link(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(
        "mother_frame,mother,frame,daughter,selected\n"
        "0,1,1,1,1\n0,2,1,3,1\n0,2,1,4,0\n0,1,2,1,1\n0,3,1,3,1\n0,9,1,2,1\n"
    )
    links = read_links(tmp_path / "links.csv", colony)
    assert as_set(links) == {(0, 1, 1, 1), (0, 2, 1, 3), (0, 1, 2, 1)}
    assert links.unmatched == (
        "3 in frame 0 → 3 in frame 1: a merge; the daughter has mother 2 already",
        "9 in frame 0 → 2 in frame 1: there is no detection 9 in frame 0",
    )


@pytest.mark.parametrize("number", ["one", "1.5", "", "9" * 30])
def test_what_is_no_whole_number_is_named_with_its_line(number: str, colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(f"mother_frame,mother,frame,daughter\n0,1,1,1\n0,{number},1,2\n")
    with pytest.raises(InputError, match="b.csv, line 3: expected whole numbers"):
        read_links(tmp_path / "b.csv", colony)


def test_a_table_without_its_columns_is_refused(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mother,daughter\n1,2\n")
    with pytest.raises(InputError, match="lacks the columns frame, mother_frame; expected a table like edges.csv"):
        read_links(tmp_path / "a.csv", colony)


HEADER = "mother_frame,mother,frame,daughter,note\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{HEADER}0,1,1\n".encode(), "t.csv, line 2: expected whole numbers, not .*daughter None"),
        (f"{HEADER}0,1,1,1,{'x' * 140_000}\n".encode(), "t.csv: cannot be read as a table .field larger"),
        (f"{HEADER}0,1,1,{'x' * 10_000}\n".encode(), "t.csv, line 2: expected whole numbers"),
        (HEADER.encode("utf-16"), "t.csv: lacks the columns"),
        (b"", "t.csv: lacks the columns"),
    ],
)
def test_a_table_that_cannot_be_read_gets_one_short_line(
    content: bytes, message: str, colony: Movie, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_links(tmp_path / "t.csv", colony)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfmother_frame,mother,frame,daughter\n0,1,1,1\n",  # as Excel writes it
        f"{HEADER}0,1,1,1,M\u00fcller\n".encode("latin-1"),
        b"mother_frame,mother,frame,daughter,selected\n0,1,1,1,1\n0,2,1,2\n",  # the last row ends before `selected`
    ],
)
def test_tables_of_other_programs_are_read(content: bytes, colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert as_set(read_links(tmp_path / "t.csv", colony)) == {(0, 1, 1, 1)}


def test_a_folder_called_csv_is_refused(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(InputError, match="t.csv: cannot be read as a table"):
        read_links(tmp_path / "t.csv", colony)


def test_a_third_daughter_is_no_link(colony: Movie, tmp_path: Path) -> None:
    rows = "0,2,1,4\n0,2,1,1\n0,2,1,3\n0,3,1,2\n"
    (tmp_path / "t.csv").write_text("mother_frame,mother,frame,daughter\n" + rows)
    links = read_links(tmp_path / "t.csv", colony)
    assert as_set(links) == {(0, 2, 1, 4), (0, 2, 1, 1), (0, 3, 1, 2)}
    assert links.unmatched == ("2 in frame 0 → 3 in frame 1: a third daughter; the mother has two already",)
