"""A model's folder: `config.yaml`, `model.pt` and `train_config.yaml`, as Trackastra reads and writes them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dunno.errors import InputError, MissingExtra
from dunno.types import Detections

FILES = ("config.yaml", "model.pt", "train_config.yaml")
PRETRAINED = ("general_2d", "ctc")
FEATURES = "wrfeat"
"""The only cell features that a model may want: Trackastra's own of masks and intensities."""

NORMALISATION = "quiet_softmax"
"""The only normalisation in which having no mother has a weight: its logit is 0."""


NEEDED, OPTIONAL, UNUSED = "needed", "optional", "unused"


@dataclass(frozen=True, eq=False)
class TransformerModel:
    """A network that is ready to be asked."""

    network: Any  # Trackastra's `TrackingTransformer`, in evaluation mode
    folder: Path  # Where it came from
    window: int  # How many frames it sees at a time
    n_dimensions: int  # 2 or 3; one for 3 also takes 2D movies
    cutoff: float  # The distance in pixels beyond which it links nothing
    dropout: float  # The rate with which it was trained
    # Whether it sees intensities: "needed"; "optional", where there are any; or "unused". It sees zeros in their place
    images: str

    def uses_images(self, cells: Detections) -> bool:
        """Whether it sees the intensities of these cells."""
        return self.images == NEEDED or (self.images == OPTIONAL and cells.brightness is not None)


def import_trackastra() -> None:
    """Say in one line what is missing, if it is. Trackastra makes every logger talk when it is imported; undo that."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        import torch  # noqa: F401
        import trackastra.model  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"the transformer needs trackastra and torch ({error}): pip install 'dunno[transformer]'"
        ) from None
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def find_folder(model: str | Path) -> Path:
    """The folder of a model: one of the user's, or a published one by its name, downloaded where there is a network."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder.absolute()
    if str(model) in PRETRAINED:
        return _published(str(model))
    raise InputError(
        f"{model}: there is no such model folder; expected one with {', '.join(FILES)} (dunno transformer train makes one), "
        f"or a published model: {', '.join(PRETRAINED)}"
    )


def _published(name: str) -> Path:
    from zipfile import BadZipFile

    from platformdirs import user_data_dir
    from trackastra.model.pretrained import download_pretrained

    place = Path(user_data_dir("trackastra")) / "models" / name
    if place.is_dir():
        return place
    try:
        return Path(download_pretrained(name))
    except (OSError, BadZipFile) as error:
        reason = type(error).__name__
    raise InputError(
        f"the weights of {name!r} are not on this computer and could not be downloaded ({reason}); where there is a "
        f"network, run python -c \"from trackastra.model import Trackastra; Trackastra.from_pretrained('{name}')\" and copy "
        f"the folder it makes to {place}, or give a folder of your own: --model DIR (dunno transformer train makes one)"
    )


def load_model(model: str | Path) -> TransformerModel:
    """Load a model from its folder or by its name, or say what is wrong with it."""
    import_trackastra()
    folder = find_folder(model)
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: has no {name}; a model's folder holds {', '.join(FILES)}")
    network, trained = _read(folder)
    config = network.config
    if trained.get("features") != FEATURES:
        raise InputError(f"{folder}: wants features {trained.get('features')!r}; dunno can only give {FEATURES!r}")
    if config["causal_norm"] != NORMALISATION:
        raise InputError(
            f"{folder}: was trained with the normalisation {config['causal_norm']!r}, which has no place for a cell without "
            f"mother; expected {NORMALISATION!r}"
        )
    return TransformerModel(
        network=network.eval().requires_grad_(False),
        folder=folder,
        window=int(config["window"]),
        n_dimensions=int(config["coord_dim"]),
        cutoff=float(config["spatial_pos_cutoff"]),
        dropout=float(config["dropout"]),
        images=_images(trained.get("images", True)),
    )


def _read(folder: Path) -> tuple[Any, dict[str, Any]]:
    """The network and how it was trained; like `TrackingTransformer.from_folder`, which leaves its files open."""
    import torch
    import yaml
    from trackastra.model import TrackingTransformer

    try:
        config, trained = (yaml.safe_load((folder / name).read_text()) for name in ("config.yaml", "train_config.yaml"))
        network = TrackingTransformer.create(config)
        weights = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)
        if "state_dict" in weights:  # a checkpoint of Trackastra's own training
            weights = {name.removeprefix("model."): value for name, value in weights["state_dict"].items()}
        network.load_state_dict(weights)
    except Exception as error:  # a broken file may raise anything, from pickle, zip, YAML or torch
        detail = str(error).strip().split("\n")[0][:120]
        raise InputError(
            f"{folder}: cannot be read as a Trackastra model ({type(error).__name__}: {detail}); "
            f"copy {', '.join(FILES)} again, or train it anew"
        ) from None
    if not isinstance(trained, dict):
        raise InputError(f"{folder / 'train_config.yaml'}: expected a table of settings")
    return network, trained


def _images(trained: object) -> str:
    """Trackastra's own models do not say, and need images; those of version 0.2 say yes or no."""
    return str(trained) if trained in (NEEDED, OPTIONAL, UNUSED) else NEEDED if trained else UNUSED


def save_model(network: Any, trained: dict[str, Any], folder: Path) -> None:
    """Write a folder that Trackastra reads."""
    import torch
    import yaml

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(network.config))
    (folder / "train_config.yaml").write_text(yaml.safe_dump({"features": FEATURES, **trained}))
    torch.save(network.state_dict(), folder / "model.pt")
