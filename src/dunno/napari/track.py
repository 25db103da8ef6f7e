"""The widget Track: a labels layer in, tracks coloured by confidence and doubtful cells out, in the background."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

from qtpy.QtCore import QObject, Signal
from qtpy.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QProgressBar, QPushButton, QWidget

from dunno.errors import DunnoError, InputError
from dunno.napari.layers import doubtful_layer, tracks_layer
from dunno.review.review import Review
from dunno.runs.run import Run, track_into
from dunno.tracking.tracker import Tracker
from dunno.types import Movie

NO_IMAGE = "none"


class _Cancelled(Exception):
    """The person does not want to wait."""


class _Signals(QObject):
    """What the working thread tells the window."""

    progress = Signal(str, int, int)
    done = Signal(object)
    failed = Signal(str)


class TrackWidget(QWidget):
    """Choose a labels layer and, if there is one, an image layer; track; cancel if it takes too long."""

    def __init__(self, napari_viewer: Any) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self._thread: threading.Thread | None = None
        self._cancelled = threading.Event()
        self._signals = _Signals()
        self.labels, self.image, self.output = QComboBox(), QComboBox(), QLineEdit()
        self.output.setPlaceholderText("a new folder; empty: a temporary one")
        self.start, self.cancel, self.to_review = QPushButton("Track"), QPushButton("Cancel"), QPushButton("Review")
        self.bar, self.told = QProgressBar(), QLabel("")
        self.told.setWordWrap(True)
        self.scale, self.max_distance, self.max_gap = QLineEdit(), QLineEdit(), QLineEdit()
        self.max_distance.setPlaceholderText("estimated; in µm with a pixel size, else in pixels")
        self.max_gap.setPlaceholderText("estimated; how many frames a link may skip")
        self.divisions = QCheckBox("cells divide")
        self.divisions.setChecked(True)
        form = QFormLayout(self)
        for name, widget in (
            ("masks", self.labels),
            ("image", self.image),
            ("pixel size (µm)", self.scale),
            ("max distance", self.max_distance),
            ("max gap", self.max_gap),
            ("", self.divisions),
            ("output", self.output),
        ):
            form.addRow(name, widget)
        for widget in (self.start, self.cancel, self.bar, self.told, self.to_review):
            form.addRow(widget)
        self.cancel.setEnabled(False)
        self.to_review.setEnabled(False)
        self._connect()
        self.fill()

    def _connect(self) -> None:
        self.start.clicked.connect(self.track)
        self.cancel.clicked.connect(self._cancelled.set)
        self.to_review.clicked.connect(self.open_review)
        self.labels.currentTextChanged.connect(self._show_scale)
        self._signals.progress.connect(self._show_progress)
        self._signals.done.connect(self._finish)
        self._signals.failed.connect(self._fail)
        self._viewer.layers.events.inserted.connect(self.fill)
        self._viewer.layers.events.removed.connect(self.fill)

    def fill(self, event: Any = None) -> None:
        """List the layers that there are."""
        kinds = {layer.name: type(layer).__name__ for layer in self._viewer.layers}
        for box, kind, first in ((self.labels, "Labels", []), (self.image, "Image", [NO_IMAGE])):
            chosen = box.currentText()
            names = [*first, *(name for name, each in kinds.items() if each == kind)]
            box.clear()
            box.addItems(names)
            box.setCurrentText(chosen if chosen in names and chosen != NO_IMAGE else names[-1] if names else "")

    @property
    def working(self) -> bool:
        """Whether it is tracking now."""
        return self._thread is not None and self._thread.is_alive()

    def _show_scale(self, name: str) -> None:
        """Say which pixel size a layer has, which is taken unless another one is typed."""
        there = self._viewer.layers[name].scale[1:] if name in self._viewer.layers else ()
        self.scale.setPlaceholderText(", ".join(f"{size:g}" for size in there))

    def movie(self) -> Movie:
        """The chosen layers as a movie; a pixel size that was typed becomes theirs."""
        named = [name for name in (self.labels.currentText(), self.image.currentText()) if name != NO_IMAGE]
        layers = [self._viewer.layers[name] for name in named]
        if scale := _numbers(self.scale, "pixel size", layers[0].ndim - 1):
            for layer in layers:
                layer.scale = (1.0, *scale)
        scale = [float(size) for size in layers[0].scale[1:]]
        images = layers[1].data if len(layers) > 1 else None
        return Movie(layers[0].data, images, scale=None if set(scale) == {1.0} else scale, name=layers[0].name)

    def tracker(self) -> Tracker:
        """How, as chosen."""
        distance, gap = _numbers(self.max_distance, "max distance", 1), _numbers(self.max_gap, "max gap", 1)
        if gap and not gap[0].is_integer():
            raise InputError(f"max gap {gap[0]:g}: expected a whole number of frames")
        return Tracker(
            max_distance=distance[0] if distance else None,
            max_gap=int(gap[0]) if gap else None,
            divisions=self.divisions.isChecked(),
        )

    def track(self) -> None:
        """Begin; the window stays usable."""
        if self.working:
            return
        try:
            movie, tracker = self.movie(), self.tracker()
        except (KeyError, DunnoError) as error:
            self._fail("there is no labels layer to track" if isinstance(error, KeyError) else str(error))
            return
        folder = Path(self.output.text() or Path(tempfile.mkdtemp(prefix="dunno-")) / "tracks").expanduser()
        self._cancelled.clear()
        self.start.setEnabled(False)
        self.cancel.setEnabled(True)
        self.told.setText("")
        self._thread = threading.Thread(target=self._work, args=(tracker, movie, folder), daemon=True)
        self._thread.start()

    def _work(self, tracker: Tracker, movie: Movie, folder: Path) -> None:
        def tell(stage: str, done: int, total: int) -> None:
            if self._cancelled.is_set():
                raise _Cancelled
            self._signals.progress.emit(stage, done, total)

        try:
            self._signals.done.emit((track_into(tracker, movie, folder, tell=tell), movie))
        except _Cancelled:
            self._signals.failed.emit("cancelled")
        except DunnoError as error:
            self._signals.failed.emit(str(error))
        except Exception as error:  # a thread that dies silently would leave the window waiting
            self._signals.failed.emit(f"{type(error).__name__}: {error}")

    def _show_progress(self, stage: str, done: int, total: int) -> None:
        self.bar.setMaximum(total)
        self.bar.setValue(done)
        self.bar.setFormat(f"{stage} %v of %m")

    def _finish(self, made: tuple[Run, Movie]) -> None:
        self._ready()
        run, movie = made
        with Review.open(run.folder, movie=movie, read_only=True) as review:
            t = int(self._viewer.dims.current_step[0])
            about = {"output": str(run.folder), "movie": movie}
            for data, more, kind in (tracks_layer(review, t), doubtful_layer(review, t)):
                layer = getattr(self._viewer, f"add_{kind}")(data, **more)
                layer.metadata["dunno"] |= about
        self.to_review.setEnabled(True)
        found, verdict = run.summary, run.about["verdict"]
        self.told.setText(
            f"{found.links:,} links, {found.expected_wrong_links:,.1f} of them expected to be wrong "
            f"(probabilities {verdict}); in {run.folder}"
        )

    def _fail(self, reason: str) -> None:
        self._ready()
        self.told.setText(reason)

    def _ready(self) -> None:
        self.start.setEnabled(True)
        self.cancel.setEnabled(False)

    def open_review(self) -> None:
        """Go on in the widget Review, with the first question."""
        from dunno.napari.review_widget import ReviewWidget

        widget = ReviewWidget(self._viewer)
        self._viewer.window.add_dock_widget(widget, name="Review", area="right", tabify=True)
        widget.open()


def _numbers(field: QLineEdit, name: str, count: int) -> list[float]:
    """What was typed, so many numbers or one for all; nothing where nothing was."""
    text = field.text().strip()
    try:
        found = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        found = [-1.0]
    if len(found) not in (0, 1, count) or not all(0 <= each < float("inf") for each in found):
        raise InputError(
            f"{name} {text}: expected {'a number' if count == 1 else f'{count} numbers, with commas between'}"
        )
    return found * count if len(found) == 1 else found
