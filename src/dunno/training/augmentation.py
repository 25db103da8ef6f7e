"""What is changed in a window at random, so that the network learns cells and not this movie.

As Gallusser & Weigert 2024 do it, on cells instead of pixels: crops, flips, affine maps, brightness, drift, noise on the centres.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.training.windows import Window
from dunno.types import Floats

MOST_CELLS_OF_A_WINDOW = 512
DIAMETER, INTENSITY, INERTIA, BORDER_COLUMN = 0, 1, 2, -1
"""Columns of the features; the inertia tensor has the columns between it and the border's."""


def augment(window: Window, cutoff: float, rng: np.random.Generator) -> Window:
    """Apply everything, each with its own probability."""
    window = crop(window, cutoff, rng)
    if len(window) == 0:
        return window
    if rng.random() < 0.9:
        window = mapped(window, random_map(window.place.shape[1], rng))
    if rng.random() < 0.8:
        window = brightened(window, rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1))
    place = window.place.copy()
    if rng.random() < 0.3:
        place += window.time[:, None] * rng.uniform(-10, 10, place.shape[1])
    if rng.random() < 0.8:
        place += rng.uniform(-3, 3, place.shape)
    place += rng.uniform(0, 512, place.shape[1]) - place.min(axis=0)  # the network also embeds absolute places
    return replace(window, place=place.astype(np.float32))


def crop(window: Window, cutoff: float, rng: np.random.Generator) -> Window:
    """A box around a random cell, one to two cutoffs wide; smaller where it would hold too many cells."""
    if len(window) == 0:
        return window
    centre = window.place[rng.integers(len(window))]
    side = rng.uniform(cutoff, 2 * cutoff, len(centre))
    corner = centre - side * rng.uniform(0.25, 0.75, len(centre))
    while True:
        keep = ((window.place >= corner) & (window.place < corner + side)).all(axis=1)
        if keep.sum() <= MOST_CELLS_OF_A_WINDOW:
            return window.of(keep)
        corner, side = corner + 0.1 * side * (centre > corner + 0.5 * side), 0.9 * side


def random_map(d: int, rng: np.random.Generator) -> Floats:
    """(d, d) a flip, rotation in the image plane, stretch and shear."""
    angle = rng.uniform(-np.pi, np.pi)
    turn, shear = np.eye(d), np.eye(d)
    turn[-2:, -2:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    along, across = rng.uniform(-0.1, 0.1, 2)
    shear[-2:, -2:] = [[1 + along * across, along], [across, 1]]
    stretch = np.exp(rng.uniform(np.log(0.5), np.log(2.0))) * rng.uniform(0.8, 1.25, d)
    flip = np.where(rng.random(d) < 0.5, -1.0, 1.0)
    return np.asarray(turn @ np.diag(stretch * flip) @ shear)


def mapped(window: Window, matrix: Floats) -> Window:
    """Apply an affine map to the places, and to sizes and shapes as they follow.

    The inertia tensor I belongs to the covariance C = tr(I)/(d−1) − I, which becomes MCMᵀ.
    """
    d = window.place.shape[1]
    features = window.features.astype(np.float64)
    features[:, DIAMETER] *= abs(np.linalg.det(matrix)) ** (1 / d)
    inertia = features[:, INERTIA:BORDER_COLUMN].reshape(-1, d, d)
    covariance = np.trace(inertia, axis1=1, axis2=2)[:, None, None] / (d - 1) * np.eye(d) - inertia
    covariance = matrix @ covariance @ matrix.T
    inertia = np.trace(covariance, axis1=1, axis2=2)[:, None, None] * np.eye(d) - covariance
    features[:, INERTIA:BORDER_COLUMN] = inertia.reshape(len(window), -1)
    place = window.place @ matrix.T
    return replace(window, place=place.astype(np.float32), features=features.astype(np.float32))


def brightened(window: Window, factor: float, shift: float) -> Window:
    """Change the intensities; where they are 0 there is no image."""
    features = window.features.copy()
    light = features[:, INTENSITY]
    features[:, INTENSITY] = np.where(light == 0, 0, light * factor + shift)
    return replace(window, features=features)
