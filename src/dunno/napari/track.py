"""The widget Track: a labels layer in, tracks coloured by confidence and doubtful cells out, in the background."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

from qtpy.QtCore import QObject, Signal
from qtpy.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QProgressBar, QPushButton, QWidget

from dunno.errors import DunnoError
from dunno.napari.layers import doubtful_layer, tracks_layer
from dunno.review.review import Review
from dunno.runs.run import track_into
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
        form = QFormLayout(self)
        for name, widget in (("masks", self.labels), ("image", self.image), ("output", self.output)):
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

    def movie(self) -> Movie:
        """The chosen layers as a movie; distances are in the unit of the layer's scale."""
        labels = self._viewer.layers[self.labels.currentText()]
        named = self.image.currentText()
        images = None if named in ("", NO_IMAGE) else self._viewer.layers[named].data
        return Movie(labels.data, images, scale=tuple(float(each) for each in labels.scale[1:]), name=labels.name)

    def track(self) -> None:
        """Begin; the window stays usable."""
        if self.working:
            return
        try:
            movie = self.movie()
        except (KeyError, DunnoError) as error:
            self._fail("there is no labels layer to track" if isinstance(error, KeyError) else str(error))
            return
        folder = Path(self.output.text() or Path(tempfile.mkdtemp(prefix="dunno-")) / "tracks").expanduser()
        self._cancelled.clear()
        self.start.setEnabled(False)
        self.cancel.setEnabled(True)
        self.told.setText("")
        self._thread = threading.Thread(target=self._work, args=(movie, folder), daemon=True)
        self._thread.start()

    def _work(self, movie: Movie, folder: Path) -> None:
        def tell(stage: str, done: int, total: int) -> None:
            if self._cancelled.is_set():
                raise _Cancelled
            self._signals.progress.emit(stage, done, total)

        try:
            track_into(Tracker(), movie, folder, tell=tell)
            self._signals.done.emit((folder, movie))
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

    def _finish(self, made: tuple[Path, Movie]) -> None:
        self._ready()
        folder, movie = made
        with Review.open(folder, movie=movie, read_only=True) as review:
            t = int(self._viewer.dims.current_step[0])
            about = {"output": str(folder), "movie": movie}
            for data, more, kind in (tracks_layer(review, t), doubtful_layer(review, t)):
                layer = getattr(self._viewer, f"add_{kind}")(data, **more)
                layer.metadata["dunno"] |= about
            expected, links = review.table.expected_wrong_links, int(review.table.linked.sum())
            verdict = review.about.verdict
        self.to_review.setEnabled(True)
        self.told.setText(
            f"{links:,} links, {expected:.1f} of them expected to be wrong (probabilities {verdict}); in {folder}"
        )

    def _fail(self, reason: str) -> None:
        self._ready()
        self.told.setText(reason)

    def _ready(self) -> None:
        self.start.setEnabled(True)
        self.cancel.setEnabled(False)

    def open_review(self) -> None:
        """Go on in the widget Review."""
        from dunno.napari.review import ReviewWidget

        self._viewer.window.add_dock_widget(ReviewWidget(self._viewer), name="Review", area="right")
