"""The lineage tree of the family in question, as the page draws it: time to the right, doubtful links marked, cells to click."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QPointF, QSize, Qt, Signal
from qtpy.QtGui import QColor, QPainter, QPen
from qtpy.QtWidgets import QSizePolicy, QToolTip, QWidget

DOUBTFUL_LINK = 0.9
"""Links that are less probable are marked."""
TREE_MARGIN, CLICK_REACH = 10.0, 8.0
SURE_COLOUR, DOUBTFUL_COLOUR, CELL, HERE = "#8a8f98", "#ff9f1c", "#c7ccd4", "#4da3ff"


class FamilyTree(QWidget):
    """Draws what `dunno.review.family` tells."""

    picked = Signal(int)
    """The row of a cell that was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.family: dict[str, Any] = {"cells": [], "links": [], "here": None}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:  # noqa: D102
        return QSize(240, 110)

    def show_family(self, family: dict[str, Any]) -> None:
        """Draw another family."""
        self.family = family
        self.update()

    def places(self) -> list[QPointF]:
        """Where each cell is drawn."""
        cells = self.family["cells"]
        if not cells:
            return []
        times = [cell["t"] for cell in cells]
        lanes = max(cell["lane"] for cell in cells) + 1
        wide = (self.width() - 2 * TREE_MARGIN) / max(max(times) - min(times), 1)
        high = (self.height() - 2 * TREE_MARGIN) / lanes
        return [
            QPointF(TREE_MARGIN + (cell["t"] - min(times)) * wide, TREE_MARGIN + (cell["lane"] + 0.5) * high)
            for cell in cells
        ]

    def paintEvent(self, event: Any) -> None:  # noqa: D102
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self.places()
        for link in self.family["links"]:
            doubtful = link["probability"] < DOUBTFUL_LINK
            pen = QPen(QColor(DOUBTFUL_COLOUR if doubtful else SURE_COLOUR), 2.5 if doubtful else 1.5)
            if doubtful:
                pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawLine(places[link["from"]], places[link["to"]])
        painter.setPen(Qt.PenStyle.NoPen)
        for k, place in enumerate(places):
            here = k == self.family["here"]
            painter.setBrush(QColor(HERE if here else CELL))
            painter.drawEllipse(place, 5.0 if here else 2.5, 5.0 if here else 2.5)
        painter.end()

    def nearest(self, x: float, y: float) -> int | None:
        """The cell at a place, if there is one."""
        away = [abs(place.x() - x) + abs(place.y() - y) for place in self.places()]
        best = min(range(len(away)), key=away.__getitem__, default=None)
        return best if best is not None and away[best] <= CLICK_REACH else None

    def mousePressEvent(self, event: Any) -> None:  # noqa: D102
        found = self.nearest(event.position().x(), event.position().y())
        if found is not None and self.family["cells"][found]["row"] is not None:
            self.picked.emit(self.family["cells"][found]["row"])

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: D102
        found = self.nearest(event.position().x(), event.position().y())
        cell = None if found is None else self.family["cells"][found]
        words = "" if cell is None else f"cell {cell['label']} of frame {cell['frame']}"
        QToolTip.showText(event.globalPosition().toPoint(), words, self)
