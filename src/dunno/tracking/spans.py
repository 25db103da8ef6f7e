"""Spans of consecutive frame pairs: what one worker does at a time, of which a block of results is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dunno.types import Detections, FramePair, Movie

BLOCK = 16  # frame pairs; benchmarks.scale
"""Frame pairs of a span: it reads its frames once, plus those it shares with its neighbours."""


@dataclass(frozen=True)
class Span:
    """Consecutive frame pairs of a movie."""

    movie: Movie  # Its frames, and those around them that a cost looks at
    first: int  # Position of the first pair's mothers in it
    n_pairs: int  # Number of pairs

    def pairs(self, window: int, max_distance: float) -> Iterator[FramePair]:
        """Yield the pairs in order, each frame read once and kept for as long as a pair looks at it."""
        seen: dict[int, Detections] = {}
        for t in range(self.first, self.first + self.n_pairs):
            around = frames_around(t, max(window, 2), len(self.movie))
            seen = {frame: seen[frame] if frame in seen else self.movie.detections(frame) for frame in around}
            frames = tuple(seen.values()) if window else ()
            yield FramePair(seen[t], seen[t + 1], max_distance, self.movie.scale, frames)


def spans_of(movie: Movie, window: int = 0, size: int = BLOCK, halo: int = 0) -> Iterator[Span]:
    """Cut a movie into spans; with a window or a halo, each has enough frames on either side of its own."""
    margin = max(window - 2, halo, 0)
    for start in range(0, len(movie) - 1, size):
        stop = min(start + size, len(movie) - 1)
        begin = max(start - margin, 0)
        yield Span(movie.part(slice(begin, stop + 1 + margin)), start - begin, stop - start)


def frames_around(t: int, window: int, length: int) -> range:
    """The window of frames with the pair (t, t + 1) in its middle; moved inwards at the movie's ends, so that it is full.

    Example:
        >>> list(frames_around(3, 4, 10)), list(frames_around(0, 4, 10)), list(frames_around(8, 4, 10))
        ([2, 3, 4, 5], [0, 1, 2, 3], [6, 7, 8, 9])
    """
    window = min(window, length)
    begin = min(max(t - (window - 2) // 2, 0), length - window)
    return range(begin, begin + window)
