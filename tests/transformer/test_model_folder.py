import gc
import logging
import sys
import warnings
from pathlib import Path

import pytest

from dunno.errors import InputError, MissingExtra
from dunno.transformer.model_folder import FILES, load_model
from tests.transformer.tiny import tiny_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "model", dropout=0.125, window=5)


def test_a_model_tells_what_it_was_trained_for(folder: Path) -> None:
    model = load_model(folder)
    assert (model.window, model.n_dimensions, model.cutoff, model.dropout) == (5, 2, 256.0, 0.125)
    assert model.images == "needed"
    assert not model.network.training


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"has no {name}"):
        load_model(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"\x80\x02nothing", b"{unclosed: [", b"a: 1\n"])
def test_a_corrupt_file_gives_one_line_that_names_the_folder(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match="model") as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_of_another_size_are_refused(folder: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", width=64)
    (other / "model.pt").replace(folder / "model.pt")
    with pytest.raises(InputError, match="cannot be read as a Trackastra model"):
        load_model(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("train_config.yaml", "features: wrfeat", "features: pretrained_feats", "wants features 'pretrained_feats'"),
        ("config.yaml", "causal_norm: quiet_softmax", "causal_norm: linear", "no place for a cell without mother"),
    ],
)
def test_a_model_that_dunno_cannot_use_is_refused(folder: Path, file: str, old: str, new: str, message: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_model(folder)


def test_a_name_that_is_neither_folder_nor_published_lists_what_there_is() -> None:
    with pytest.raises(InputError, match="no such model folder.*general_2d, ctc"):
        load_model("nowhere")


@pytest.fixture
def nothing_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer without network, on which no published model lies yet."""
    pretrained = pytest.importorskip("trackastra.model.pretrained")

    def fail(*given: object, **more: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(pretrained.requests, "get", fail)
    return tmp_path / "data"


def test_a_published_model_without_network_says_how_to_get_it(nothing_downloaded: Path) -> None:
    with pytest.raises(InputError, match="from_pretrained.*general_2d.*--model DIR") as caught:
        load_model("general_2d")
    assert str(nothing_downloaded) in str(caught.value)


def test_a_published_model_that_was_downloaded_is_used(nothing_downloaded: Path) -> None:
    folder = tiny_model(nothing_downloaded / "trackastra" / "models" / "ctc", n_dimensions=3)
    assert load_model("ctc").folder == folder


def test_a_missing_package_gives_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trackastra.model", None)
    with pytest.raises(MissingExtra, match=r"pip install 'dunno\[transformer\]'"):
        load_model("general_2d")


def test_loading_leaves_other_loggers_as_they_are(folder: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    load_model(folder)
    assert (root.level, list(root.handlers)) == before


def test_trackastra_itself_loads_the_folder(folder: Path) -> None:
    model = pytest.importorskip("trackastra.model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files to the collector
        loaded = model.Trackastra.from_folder(folder, device="cpu")
        gc.collect()
    assert loaded.transformer.config["window"] == 5
