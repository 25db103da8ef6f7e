"""What a Trackastra transformer makes of a window of frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dunno.costs import Cost
from dunno.errors import InputError
from dunno.perturbations.dropout import Dropout
from dunno.transformer.logits import association, stochastic_associations
from dunno.transformer.model_folder import TransformerModel, load_model
from dunno.transformer.tokens import Singles, tokens_of
from dunno.types import Detections, EventCosts, Floats, FramePair, Ints


@dataclass(frozen=True, eq=False)
class TransformerCost(Cost):
    r"""Minus the association logit of a Trackastra transformer, which sees a window of frames.

    $$w(x_i, x'_j) = -A_{ij}, \qquad A = f_\theta(X)\, g_\theta(X)^\top$$

    (Gallusser & Weigert 2024; the paper's appendix prints a squared distance instead.) The network's own normalisation, the
    parental softmax, gives ⊥ the logit 0, so appearing costs 0; so do disappearing and dividing, on which it has no opinion.
    Pairs beyond its cutoff cost infinity. It looks at one window, in whose middle the pair lies (at the movie's ends it is moved
    inwards): a mean over all windows would take as many passes, and would average away what dropout tells.
    """

    model: str | Path = "general_2d"  # A model's folder, or the name of a published model: general_2d, ctc
    dropout: float | None = None  # The rate of Monte Carlo dropout; `None` is the one it was trained with
    window: int = 0  # How many frames it sees, at most as many as the model was trained for; 0 is that many
    name = "transformer"
    perturbation = Dropout()
    tolerance = 1e-3
    """The network computes in single precision, and its sums depend on the order of the cells."""

    def __post_init__(self) -> None:
        loaded = load_model(self.model)
        rate = Dropout(self.dropout).rate
        window = self.window or loaded.window
        if not 2 <= window <= loaded.window:
            raise InputError(
                f"the window is {window} frames; expected 2 to {loaded.window}, which the model was trained for"
            )
        published = str(self.model) == loaded.folder.name and not Path(self.model).is_dir()
        settled = {
            "model": str(self.model) if published else str(loaded.folder),
            "dropout": loaded.dropout if rate is None else rate,
            "window": window,
            "_loaded": loaded,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as a name, not as weights."""
        return TransformerCost, (self.model, self.dropout, self.window)

    @property
    def _network(self) -> TransformerModel:
        loaded: TransformerModel = self.__dict__["_loaded"]
        return loaded

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        costs = self._costs(pair) if pair.drawn is None else pair.drawn
        return costs[mother, daughter]

    def event_costs(self, pair: FramePair) -> EventCosts:
        """Having no mother has logit 0 in the parental softmax; the rest is left to calibration."""
        return EventCosts(appear=0.0, disappear=0.0, divide=0.0)

    def drawn(self, pair: FramePair, k: int, rate: float | None, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield k times the (m, n) costs of all edges, each from one pass with parts of the network left out."""
        frames = _window(pair)
        tokens = [self._tokens(cells, pair) for cells in frames]
        dropped = self.dropout if rate is None else rate
        assert dropped is not None
        for logits in stochastic_associations(self._network, tokens, k, dropped, rng):
            yield _between(pair, frames, logits)

    def _costs(self, pair: FramePair) -> Floats:
        """(m, n) the cost of all edges; pairs at the movie's ends share their window, and its one pass."""
        frames = _window(pair)

        def make() -> Singles:
            return association(self._network, [self._tokens(cells, pair) for cells in frames])

        untouched = bool(pair.window) and all(one is other for one, other in zip(frames, pair.window, strict=True))
        key = ("association", id(self), tuple(cells.frame for cells in frames))
        return _between(pair, frames, frames[0].once(key, make) if untouched else make())

    def _tokens(self, cells: Detections, pair: FramePair) -> Any:
        network = self._network
        return tokens_of(cells, pair.scale, network.n_dimensions, network.uses_images(cells))


def _window(pair: FramePair) -> tuple[Detections, ...]:
    """The window with the pair's own frames as they are in the pair, where a perturbation may have changed them."""
    own = {cells.frame: cells for cells in (pair.mothers, pair.daughters)}
    return tuple(own.get(cells.frame, cells) for cells in pair.window or (pair.mothers, pair.daughters))


def _between(pair: FramePair, frames: tuple[Detections, ...], logits: Singles) -> Floats:
    """(m, n) costs of the pair's edges, out of the window's logits."""
    ends = np.cumsum([0, *(len(cells) for cells in frames)])
    place = {cells.frame: slice(ends[t], ends[t + 1]) for t, cells in enumerate(frames)}
    return -logits[place[pair.mothers.frame], place[pair.daughters.frame]].astype(np.float64)
