"""How to train: everything that decides the result, apart from the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dunno.errors import InputError
from dunno.transformer.model_folder import NORMALISATION


@dataclass(frozen=True)
class Settings:
    """The network's size and how it is trained; the defaults are Trackastra's, `small()` is for a CPU."""

    dropout: float = 0.25  # The rate at which attention weights are left out
    epochs: int = 100  # The most that are trained
    patience: int = 20  # Epochs without a better validation loss after which training ends
    windows: int = 4096  # Training windows per epoch
    batch: int = 8  # Windows per step
    learning_rate: float = 1e-4  # The largest; it rises over the first tenth of the epochs and falls like a cosine
    largest_step: int = 1  # Largest frame step at which windows are drawn (see `dunno.training.windows.Windows`)
    window: int = 6  # Frames in a window
    width: int = 256  # Of the network's layers (Trackastra's d_model)
    heads: int = 4  # Of the attention
    layers: int = 6  # In the encoder, and in the decoder
    cutoff: int = 256  # Distance in pixels beyond which nothing is linked
    seed: int = 0  # Makes it repeatable, on a machine with the same number of cores

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise InputError(f"the dropout rate is {self.dropout}; expected 0 or more, and below 1")
        for name in ("epochs", "patience", "windows", "batch", "largest_step", "layers"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} is {getattr(self, name)}; expected at least 1")
        if self.window < 2:
            raise InputError(f"the window is {self.window}; expected at least 2 frames, a mother's and a daughter's")

    @classmethod
    def small(cls, **more: Any) -> Settings:
        """A network of 0.2 million parameters, trained in minutes on two cores."""
        small = {"width": 64, "heads": 2, "layers": 2, "window": 4, "windows": 512, "learning_rate": 1e-3}
        return cls(**{**small, **more})

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def network(self, n_dimensions: int) -> Any:
        """A network with random weights, from torch's current seed."""
        from trackastra.model import TrackingTransformer

        return TrackingTransformer(
            coord_dim=n_dimensions,
            feat_dim=3 + n_dimensions**2,
            d_model=self.width,
            nhead=self.heads,
            num_encoder_layers=self.layers,
            num_decoder_layers=self.layers,
            dropout=self.dropout,
            pos_embed_per_dim=32,
            feat_embed_per_dim=8,
            window=self.window,
            spatial_pos_cutoff=self.cutoff,
            attn_positional_bias="rope",
            causal_norm=NORMALISATION,
        )
