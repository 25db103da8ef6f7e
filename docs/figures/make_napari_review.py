"""The picture of the Review widget in docs/napari.md: a question about a simulated colony, with the heat map.

    xvfb-run -a -s "-screen 0 1400x900x24" python docs/figures/make_napari_review.py

Needs napari with a Qt (PySide6-Essentials) and a display; `xvfb-run` with Mesa is one.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from dunno import Tracker, read
from dunno.runs.run import track_into
from dunno.simulate import colony

SETTLE = 2.0
"""Seconds in which the window is drawn."""


def main() -> None:
    """Track a colony, open its review in a viewer, and take a picture."""
    from qtpy.QtWidgets import QApplication

    import napari
    from dunno.napari.review_widget import ReviewWidget

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        colony(cells=30, frames=30, motion=0.35, cycle=15, seed=2).save(Path(folder) / "01")
        movie = read(Path(folder) / "01", masks=Path(folder) / "01_GT" / "TRA")
        track_into(Tracker(evidence="places", workers=1), movie, out)
        viewer = napari.Viewer(show=True)
        viewer.window.resize(1300, 860)
        widget = ReviewWidget(viewer, out)
        viewer.window.add_dock_widget(widget, name="Review (dunno)", area="right")
        widget.name.setText("ada")
        widget.open()
        widget.output.setText("OUT")
        widget.heat()
        end = time.monotonic() + SETTLE
        while time.monotonic() < end:
            QApplication.processEvents()
        viewer.screenshot(str(Path(__file__).parent / "napari-review.png"), canvas_only=False, flash=False)
        widget.close_review()
        viewer.close()


if __name__ == "__main__":
    main()
