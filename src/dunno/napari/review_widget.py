"""The widget Review: the page's questions, keys and constraints in napari; the viewer moves to the cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dunno.errors import DunnoError
from dunno.napari.layers import is_inside
from dunno.napari.review_view import BUTTONS, ONLY_BUTTONS, ReviewView
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
    in_words,
)


class ReviewWidget(ReviewView):
    """A review that is answered by keys, buttons and clicks."""

    def __init__(self, napari_viewer: Any, output: str | Path | None = None) -> None:
        super().__init__(napari_viewer, output)
        self._picking: str | None = None
        self._keys: dict[str, Callable[[Any], None]] = {}
        self.accept_button.clicked.connect(self.accept)
        self._actions: dict[str, Callable[[], None]] = {
            "skip": partial(self._about_daughter, SKIP),
            "no_cell": partial(self._about_daughter, NO_CELL),
            "two_cells": self.two_cells,
            "pick_piece": partial(self._pick, ONE_CELL, "click the other piece of this cell, in the same frame"),
            "pick_place": partial(
                self._pick, MISSING, "click where a cell has no mask, in the frame in which it is missing"
            ),
            "divides": partial(self._about_mother, DIVIDES),
            "three": partial(self._about_mother, DIVIDES_INTO_THREE),
            "does_not_divide": partial(self._about_mother, DOES_NOT_DIVIDE),
            "disappears": partial(self._about_mother, DISAPPEARS),
            "undo": partial(self._step, True),
            "redo": partial(self._step, False),
            "heat": self.heat,
            "export": self.export,
        }
        for name, button in self.buttons.items():
            button.clicked.connect(_as_function(self._actions[name]))

    def open(self) -> None:
        """Open the output for review, with all that was decided so far."""
        super().open()
        if self.desk is not None:
            self._bind()

    def _bind(self) -> None:
        """Take keys and clicks; a layer's own keys would come before the viewer's."""
        keys: dict[str, Callable[[], None]] = {"Enter": self.accept}
        keys |= {str(k): partial(self.choose, str(k)) for k in range(10)}
        keys |= {key: self._actions[name] for key, _, name in BUTTONS if key not in ONLY_BUTTONS}
        self._keys = {key: _as_function(action) for key, action in keys.items()}
        for each in (self._viewer, *self._viewer.layers):
            self._bind_keys(each)
        self._viewer.layers.events.inserted.connect(self._bind_layer)
        self._viewer.mouse_drag_callbacks.append(self._clicked)

    def _bind_keys(self, provider: Any) -> None:
        for key, function in self._keys.items():
            provider.bind_key(key, function, overwrite=True)

    def _bind_layer(self, event: Any) -> None:
        self._bind_keys(event.value)

    def close_review(self) -> None:
        """Let others in, and give the keys back; nothing needs saving."""
        super().close_review()
        for each in (self._viewer, *self._viewer.layers) if self._keys else ():
            for key in self._keys:
                each.bind_key(key, None)
        if self._keys:
            self._viewer.layers.events.inserted.disconnect(self._bind_layer)
            self._viewer.mouse_drag_callbacks.remove(self._clicked)
        self._keys = {}

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
        n = reply["touched"]
        others = f"; {n} {'cell' if n == 1 else 'cells'} became clearer or changed" if n else ""
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

    def two_cells(self) -> None:
        """It holds two; the marked mother, if it is not the reported one, is the second one's."""
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

    # ---- clicking

    def _pick(self, kind: str, words: str) -> None:
        """The next click names the other piece of this cell, or a place without a mask."""
        self._picking = kind
        self.tell(words)

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


def _as_function(action: Callable[[], None]) -> Callable[[Any], None]:
    """A function for napari to call, with the viewer or the layer; napari asks it for its name."""

    def answer(provider: Any) -> None:
        action()

    return answer
