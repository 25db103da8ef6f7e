"""Showing a review in napari: an output is opened, the viewer moves to the cell in question, layers follow the decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from qtpy.QtWidgets import QGridLayout, QLabel, QLineEdit, QListWidget, QPushButton, QVBoxLayout, QWidget

from dunno.errors import DunnoError
from dunno.napari.family_tree import FamilyTree
from dunno.napari.layers import (
    candidates_layer,
    doubt_layer,
    doubtful_layer,
    movie_layers,
    refresh,
    shown,
    tracks_layer,
)
from dunno.review.desk import Desk
from dunno.review.export import exported
from dunno.review.family import family
from dunno.review.overview import overview
from dunno.review.review import Review

BUTTONS = (
    ("s", "cannot say", "skip"),
    ("k", "no cell", "no_cell"),
    ("t", "two cells", "two_cells"),
    ("o", "one cell with…", "pick_piece"),
    ("m", "missing here…", "pick_place"),
    ("d", "divides", "divides"),
    ("3", "into three", "three"),
    ("n", "does not", "does_not_divide"),
    ("x", "disappears", "disappears"),
    ("u", "undo", "undo"),
    ("r", "redo", "redo"),
    ("h", "heat map", "heat"),
    ("", "export", "export"),
)
"""Key, words and name of each button; the keys are the page's ("3" only as a button, as a key it is the third mother)."""
ONLY_BUTTONS = ("3", "")
BUTTON_HEIGHT = 24  # pixels; display


class ReviewPanel(QWidget):
    """The parts, laid out; nothing happens yet when they are used."""

    def __init__(self) -> None:
        super().__init__()
        self.output = QLineEdit()
        self.output.setPlaceholderText("a folder that dunno track wrote")
        self.name = QLineEdit()
        self.name.setPlaceholderText("who decides (your name)")
        self.opened = QPushButton("Review")
        self.stands, self.question, self.told = QLabel("choose an output"), QLabel(""), QLabel("")
        self.list = QListWidget()
        self.family = FamilyTree()
        self.accept_button = QPushButton("Enter")
        self._lay_out()

    def _lay_out(self) -> None:
        box = QVBoxLayout(self)
        for label in (self.stands, self.question, self.told):
            label.setWordWrap(True)
        for widget in (self.output, self.name, self.opened, self.stands, self.question, self.list, self.accept_button):
            box.addWidget(widget)
        grid = QGridLayout()
        self.buttons: dict[str, QPushButton] = {}
        for k, (key, words, method) in enumerate(BUTTONS):
            button = QPushButton(words if key in ONLY_BUTTONS else f"{key}  {words}")
            button.setMinimumHeight(BUTTON_HEIGHT)  # in a low window the list gives way
            self.buttons[method] = button
            grid.addWidget(button, k // 2, k % 2)
        box.addLayout(grid)
        box.addWidget(self.told)
        box.addWidget(self.family)
        box.addStretch()

    def tell(self, words: str) -> None:
        """Say something below the buttons."""
        self.told.setText(words)


class ReviewView(ReviewPanel):
    """One question at a time, with the layers of the frames around it."""

    def __init__(self, napari_viewer: Any, output: str | Path | None = None) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self.output.setText(str(output or self._known("output") or ""))
        self.desk: Desk | None = None
        self.view: dict[str, Any] | None = None
        self.state: dict[str, Any] = {}
        self.opened.clicked.connect(self.open)
        self.family.picked.connect(self.go_to)
        self.list.currentRowChanged.connect(self._show_marked)

    def _known(self, name: str) -> Any:
        """What a layer of this viewer says about the output that it is from."""
        about = [shown(layer) for layer in reversed(list(self._viewer.layers))]
        return next((each[name] for each in about if name in each), None)

    # ---- opening and closing

    def open(self) -> None:
        """Open the output for review, with all that was decided so far."""
        self.close_review()
        folder = self.output.text()
        movie = self._known("movie") if folder == self._known("output") else None
        try:
            review = Review.open(folder, who=self.name.text().strip() or None, movie=movie)
            self.desk = Desk(review)
            self._add_movie(review)
            self._ask()
        except DunnoError as error:
            self.tell(str(error))
            self.close_review()

    def close_review(self) -> None:
        """Let others in; nothing needs saving."""
        if self.desk is not None:
            self.desk.review.close()
        self.desk = None

    def closeEvent(self, event: Any) -> None:  # noqa: D102
        self.close_review()
        super().closeEvent(event)

    def _add_movie(self, review: Review) -> None:
        """Show the movie unless it is there already."""
        there = {layer.name for layer in self._viewer.layers if type(layer).__name__ in ("Image", "Labels")}
        if not there:
            for data, more, kind in movie_layers(review.movie, {"output": str(review.folder)}):
                getattr(self._viewer, f"add_{kind}")(data, **more)

    # ---- showing

    def _ask(self) -> None:
        if self.desk is not None:
            reply = self.desk.ask()
            self._take(reply["view"], reply["state"])

    def _take(self, view: dict[str, Any] | None, state: dict[str, Any]) -> None:
        self.view, self.state = view, state
        advice = state["advice"]
        self.stands.setText(
            f"<b>{state['expected']:.1f}</b> wrong links expected of {state['links']:,}; {state['answered']} answered"
            + (" — a good place to stop" if advice["stop"] else "")
        )
        self.list.clear()
        self._draw()
        if view is None:
            self.question.setText("Nothing is left to ask.")
            return
        assert self.desk is not None
        self.family.show_family(family(self.desk.review, view["row"]))
        kind = "audit, drawn at random: " if view["audit"] else ""
        self.question.setText(f"{kind}where does cell {view['label']} of frame {view['frame']} come from?")
        for each in view["choices"]:
            note = "  (reported)" if each["reported"] else ""
            self.list.addItem(f"{each['key']}   {each['words']}   {100 * each['probability']:.0f} %{note}")
        self.list.setCurrentRow(next(k for k, each in enumerate(view["choices"]) if self._is_default(each)))
        self._look_at(view)

    def _is_default(self, choice: dict[str, Any]) -> bool:
        assert self.view is not None
        reported = [each for each in self.view["choices"] if each["reported"]]
        return choice is (reported[0] if reported else self.view["choices"][-1])

    def _show_marked(self, row: int) -> None:
        """What Enter will record is what is marked, and the button says so."""
        if self.view is not None and 0 <= row < len(self.view["choices"]):
            self.accept_button.setText(f"Enter: {self.view['choices'][row]['words']}")

    def _look_at(self, view: dict[str, Any]) -> None:
        """Move the viewer to the cell."""
        assert self.desk is not None
        review = self.desk.review
        found = review.find(view["frame"])
        index = int(np.searchsorted(found.cells.label, view["label"]))
        place = found.cells.centroid[index]
        self._viewer.dims.set_point(0, float(found.t))
        if len(place) == 3:
            self._viewer.dims.set_point(1, float(place[0]))
        camera = getattr(self._viewer, "scene", self._viewer).camera  # since napari 0.9 a scene has it
        camera.center = (0.0, *(float(each) for each in place[-2:]))
        size = max(view["box"]["width"], view["box"]["height"]) * review.movie.scale[-1]
        camera.zoom = 700 / max(float(size), 1e-9)

    def _draw(self) -> None:
        """Make the layers of the frames around anew: they follow each decision."""
        assert self.desk is not None
        review = self.desk.review
        t = 0 if self.view is None else self.view["pair"] + 1
        made = (
            doubt_layer(review),
            tracks_layer(review, t),
            doubtful_layer(review, t),
            candidates_layer(review, self.view),
        )
        there = {shown(layer).get("shows"): layer for layer in self._viewer.layers}
        for data, more, kind in made:
            layer = there.get(more["metadata"]["dunno"]["shows"])
            if layer is None:
                getattr(self._viewer, f"add_{kind}")(data, **more)
            else:
                refresh(layer, (data, more, kind))

    # ---- looking around

    def go_to(self, row: int) -> None:
        """Look at a cell that was chosen."""
        if self.desk is not None:
            self._take(self.desk.view(row), self.desk.state())

    def heat(self) -> None:
        """Show where the field is doubtful, or hide it; with Alt, a click goes to the most doubtful cell there."""
        for layer in (each for each in self._viewer.layers if shown(each).get("shows") == "doubt"):
            layer.visible = not layer.visible
            self.tell("Alt and a click go to the most doubtful cell there" if layer.visible else "")

    def go_where_it_is_doubtful(self, place: Any) -> None:
        """Look at the most doubtful cell of a square of the heat map; places are y, x in pixels."""
        if self.desk is None:
            return
        field = overview(self.desk.review)
        y, x = (int(each // field["size"]) for each in place)
        square = next((each for each in field["squares"] if (each["y"], each["x"]) == (y, x)), None)
        if square is None:
            self.tell("nothing is doubtful there")
        else:
            self.go_to(square["row"])

    def export(self) -> None:
        """Write the reviewed tracking beside the output."""
        if self.desk is None:
            return
        try:
            done = exported(self.desk.review)
        except DunnoError as error:
            self.tell(str(error))
            return
        without = f", without a challenge result ({done['without_ctc']})" if done["without_ctc"] else ""
        self.tell(f"written to {done['folder']}{without}")
