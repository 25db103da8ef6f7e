"""The widget Review: the page's questions, keys and constraints in napari; the viewer moves to the cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from qtpy.QtWidgets import QGridLayout, QLabel, QLineEdit, QListWidget, QPushButton, QVBoxLayout, QWidget

from dunno.errors import DunnoError
from dunno.napari.family import FamilyTree
from dunno.napari.layers import (
    NAMES,
    candidates_layer,
    doubt_layer,
    doubtful_layer,
    is_inside,
    movie_layers,
    refresh,
    tracks_layer,
)
from dunno.review.decisions import (
    DISAPPEARS,
    DIVIDES,
    DIVIDES_INTO_THREE,
    DOES_NOT_DIVIDE,
    MISSING,
    MOTHER,
    NO_CELL,
    ONE_CELL,
    SKIP,
    TWO_CELLS,
    Decision,
)
from dunno.review.desk import Desk
from dunno.review.export import exported
from dunno.review.family import family
from dunno.review.overview import overview
from dunno.review.review import Review
from dunno.review.views import in_words

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
"""Key, words and method of each button; the keys are the page's ("3" only as a button, as a key it is the third mother)."""
ONLY_BUTTONS = ("3", "")


class ReviewWidget(QWidget):
    """One question at a time, with the layers of the frames around it."""

    def __init__(self, napari_viewer: Any, output: str | Path | None = None) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self.desk: Desk | None = None
        self.view: dict[str, Any] | None = None
        self.state: dict[str, Any] = {}
        self._picking: str | None = None
        self.output = QLineEdit(str(output or self._known("output") or ""))
        self.output.setPlaceholderText("a folder that dunno track wrote")
        self.name = QLineEdit()
        self.name.setPlaceholderText("who decides (your name)")
        self.opened = QPushButton("Review")
        self.opened.clicked.connect(self.open)
        self.stands, self.question, self.told = QLabel("choose an output"), QLabel(""), QLabel("")
        self.list = QListWidget()
        self.family = FamilyTree()
        self.family.picked.connect(self.go_to)
        self.accept_button = QPushButton("Enter")
        self.accept_button.clicked.connect(self.accept)
        self.list.currentRowChanged.connect(self._show_marked)
        self._lay_out()

    def _known(self, name: str) -> Any:
        """What a layer of this viewer says about the output that it is from."""
        about = [layer.metadata.get("dunno", {}) for layer in reversed(list(self._viewer.layers))]
        return next((each[name] for each in about if name in each), None)

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
            button.clicked.connect(getattr(self, method))
            self.buttons[method] = button
            grid.addWidget(button, k // 2, k % 2)
        box.addLayout(grid)
        box.addWidget(self.told)
        box.addWidget(self.family)
        box.addStretch()

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
            return
        self._bind()

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

    def _bind(self) -> None:
        keys: dict[str, Callable[[], None]] = {"Enter": self.accept, "0": lambda: self.choose("0")}
        keys |= {str(k): partial(self.choose, str(k)) for k in range(1, 10)}
        keys |= {key: getattr(self, method) for key, _, method in BUTTONS if key not in ONLY_BUTTONS}
        for key, action in keys.items():
            self._viewer.bind_key(key, partial(_without_viewer, action), overwrite=True)
        if self._clicked not in self._viewer.mouse_drag_callbacks:
            self._viewer.mouse_drag_callbacks.append(self._clicked)

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
        there = {layer.name for layer in self._viewer.layers}
        for data, more, kind in made:
            if more["name"] in there:
                refresh(self._viewer.layers[more["name"]], (data, more, kind))
            else:
                getattr(self._viewer, f"add_{kind}")(data, **more)
        if not {more["name"] for _, more, _ in made} <= there:
            self._viewer.layers.selection.clear()  # the keys are the review's, not a layer's
        assert {more["name"] for _, more, _ in made} <= set(NAMES)

    def tell(self, words: str) -> None:
        """Say something below the buttons."""
        self.told.setText(words)

    # ---- looking around

    def go_to(self, row: int) -> None:
        """Look at a cell that was chosen."""
        if self.desk is not None:
            self._take(self.desk.view(row), self.desk.state())

    def heat(self) -> None:
        """Show where the field is doubtful, or hide it; with Alt, a click goes to the most doubtful cell there."""
        if "doubt" in self._viewer.layers:
            layer = self._viewer.layers["doubt"]
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

    # ---- deciding

    def decide(self, decision: Decision) -> None:
        """Take a decision; refused with the reason if it contradicts others."""
        if self.desk is None:
            return
        try:
            reply = self.desk.answer(decision, self.name.text().strip() or None)
        except DunnoError as error:
            self.tell(str(error))
            return
        others = f"; {reply['touched']} cells became clearer or changed" if reply["touched"] else ""
        self.tell(f"{in_words(decision)}{others}")
        if decision.about_daughter:
            self._ask()
        elif self.view is not None:
            self._take(self.desk.view(self.view["row"]), self.desk.state())

    def choose(self, key: str) -> None:
        """Answer with one of the numbered choices."""
        for each in () if self.view is None else self.view["choices"]:
            if each["key"] == key:
                self.decide(Decision.from_dict(each["decision"]))
                return

    def accept(self) -> None:
        """Record what is marked."""
        if self.view is not None and self.list.currentRow() >= 0:
            self.choose(self.view["choices"][self.list.currentRow()]["key"])

    def _about_daughter(self, kind: str) -> None:
        if self.view is not None:
            self.decide(Decision(kind, self.view["frame"], self.view["label"]))

    def skip(self) -> None:
        """Cannot say."""
        self._about_daughter(SKIP)

    def no_cell(self) -> None:
        """The mask in question is no cell."""
        self._about_daughter(NO_CELL)

    def two_cells(self) -> None:
        """It holds two; the marked mother, if she is not the reported one, is the second one's."""
        if self.view is None:
            return
        marked = self.view["choices"][max(self.list.currentRow(), 0)]
        second = marked["decision"].get("mother") if not (marked["reported"] or marked["far"]) else None
        self.decide(Decision(TWO_CELLS, self.view["frame"], self.view["label"], second))

    def _about_mother(self, kind: str) -> None:
        marked = self.list.currentRow()
        said = {} if self.view is None or marked < 0 else self.view["choices"][marked]["decision"]
        if self.view is None or "mother" not in said or "mother_frame" in said:
            self.tell("mark a mother of the frame before first")
            return
        self.decide(Decision(kind, self.view["mother_frame"], said["mother"]))

    def divides(self) -> None:
        """The marked mother divides."""
        self._about_mother(DIVIDES)

    def three(self) -> None:
        """The marked mother divides into three."""
        self._about_mother(DIVIDES_INTO_THREE)

    def does_not_divide(self) -> None:
        """The marked mother does not divide."""
        self._about_mother(DOES_NOT_DIVIDE)

    def disappears(self) -> None:
        """The marked mother disappears."""
        self._about_mother(DISAPPEARS)

    def _step(self, back: bool) -> None:
        if self.desk is None:
            return
        try:
            reply = self.desk.undo() if back else self.desk.redo()
        except DunnoError as error:
            self.tell(str(error))
            return
        self.tell("taken back" if back else "done again")
        view = reply["view"] or (self.view and self.desk.view(self.view["row"]))
        self._take(view, reply["state"])

    def undo(self) -> None:
        """Take back the last answer."""
        self._step(True)

    def redo(self) -> None:
        """Let it stand again."""
        self._step(False)

    # ---- clicking

    def pick_piece(self) -> None:
        """The next click names the other piece of this cell."""
        self._picking = ONE_CELL
        self.tell("click the other piece of this cell, in the same frame")

    def pick_place(self) -> None:
        """The next click says where a cell has no mask."""
        self._picking = MISSING
        self.tell("click where a cell has no mask, in the frame in which it is missing")

    def _clicked(self, viewer: Any, event: Any) -> Any:
        """A click without a drag: what was asked for, or, with Control, the mother."""
        yield
        if event.type == "mouse_move":
            return
        held = [getattr(each, "name", str(each)) for each in event.modifiers]
        if self.desk is not None and "Alt" in held:
            scale = self.desk.review.movie.scale[-2:]
            self.go_where_it_is_doubtful([at / each for at, each in zip(event.position[-2:], scale, strict=True)])
        elif self.desk is not None and (self._picking or "Control" in held):
            self.click(event.position)

    def click(self, position: Any) -> None:
        """Take a place in the world: time, [z,] y, x."""
        if self.desk is None or self.view is None:
            return
        movie = self.desk.review.movie
        t = round(float(position[0]))
        place = [float(each) / scale for each, scale in zip(position[1:], movie.scale, strict=True)]
        if not (0 <= t < len(movie) and is_inside(movie.shape, place)):
            return
        label = int(movie.masks(t)[tuple(round(each) for each in place)])
        picking, self._picking = self._picking, None
        frame = int(movie.frames[t])
        if picking == MISSING:
            self.decide(Decision(MISSING, frame, place=tuple(place)))
        elif label == 0:
            self.tell("there is no mask here")
        elif picking == ONE_CELL:
            self._same_cell(frame, label)
        elif frame < self.view["frame"]:
            far = None if frame == self.view["mother_frame"] else frame
            self.decide(Decision(MOTHER, self.view["frame"], self.view["label"], label, far))

    def _same_cell(self, frame: int, label: int) -> None:
        assert self.view is not None
        if frame != self.view["frame"] or label == self.view["label"]:
            self.tell(f"click another mask of frame {self.view['frame']}")
            return
        self.decide(Decision(ONE_CELL, frame, self.view["label"], other=label))


def _without_viewer(action: Callable[[], None], viewer: Any) -> None:
    """Keys of a viewer are told the viewer."""
    action()
