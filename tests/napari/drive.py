"""Drives a real viewer through the plugin's widgets; run by `test_plugin.py` in a process of its own, under xvfb.

python -m tests.napari.drive STEP OUTPUT SCREENSHOTS
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from npe2 import PluginManager, PluginManifest
from qtpy.QtCore import Qt
from qtpy.QtTest import QTest
from qtpy.QtWidgets import QApplication

import dunno.napari
import napari
from dunno import Movie
from dunno.napari.layers import movie_layers
from dunno.napari.review_widget import ReviewWidget
from dunno.napari.track import TrackWidget
from dunno.review import Review
from dunno.review.overview import overview
from dunno.simulate import colony

PATIENCE = 240


def wait(until: Callable[[], bool]) -> None:
    """Let the window work until something is so."""
    end = time.monotonic() + PATIENCE
    while not until():
        QApplication.processEvents()
        time.sleep(0.01)
        assert time.monotonic() < end, "the window did not get there"


def new_viewer() -> Any:
    manager = PluginManager.instance()
    manager.discover()
    if "dunno" not in manager:
        manager.register(PluginManifest.from_file(Path(dunno.napari.__file__).with_name("napari.yaml")))
    return napari.Viewer(show=True)


def press(viewer: Any, key: str) -> None:
    """A key on the keyboard, while the canvas has the focus."""
    QTest.keyClick(viewer.window._qt_viewer.canvas.native, getattr(Qt.Key, f"Key_{key}"))
    QApplication.processEvents()


def shoot(viewer: Any, folder: str, name: str) -> None:
    wait(lambda: True)
    for _ in range(20):
        QApplication.processEvents()
        time.sleep(0.02)
    viewer.screenshot(str(Path(folder) / f"{name}.png"), canvas_only=False)


def with_missing_masks() -> list[Any]:
    """A colony's image, and masks of which many are missing: some links skip frames, and are taken back between blocks."""
    made = colony(cells=14, frames=70, motion=0.3, cycle=80.0, seed=3)
    rng = np.random.default_rng(3)
    masks = np.stack([made.movie.masks(t) for t in range(len(made.movie))])
    for frame, labels in zip(masks, made.truth.labels, strict=True):
        frame[np.isin(frame, labels[rng.random(len(labels)) < 0.12])] = 0
    return movie_layers(Movie(masks, np.stack([made.movie.images(t) for t in range(len(made.movie))])))


def track(output: str, screenshots: str) -> dict[str, Any]:
    """Layers are tracked in the background, cancelled once, then reviewed in one step."""
    viewer = new_viewer()
    for data, more, kind in with_missing_masks():
        getattr(viewer, f"add_{kind}")(data, **more)
    _, widget = viewer.window.add_plugin_dock_widget("dunno", "Track")
    assert isinstance(widget, TrackWidget)
    assert (widget.labels.currentText(), widget.image.currentText()) == ("masks", "image")
    widget.max_gap.setText("two")
    widget.start.click()
    refused = widget.told.text()
    widget.max_gap.setText("3")
    widget.max_distance.setText("7.5")
    widget.scale.setText("0.5")
    widget.divisions.setChecked(False)
    widget.output.setText(output + "-cancelled")
    widget.start.click()
    widget.cancel.click()
    wait(lambda: widget.start.isEnabled())
    cancelled = widget.told.text()
    widget.output.setText(output)
    widget.start.click()
    wait(lambda: widget.start.isEnabled())
    assert {"tracks", "doubtful"} <= {layer.name for layer in viewer.layers}, widget.told.text()
    tracks = viewer.layers["tracks"]
    told, frames = widget.told.text(), sorted({int(row[1]) for row in tracks.data})
    shoot(viewer, screenshots, "napari-track")
    viewer.layers.selection = {viewer.layers["masks"]}  # whose own keys are not to come before the review's
    widget.to_review.click()
    review = next(w for w in viewer.window.dock_widgets.values() if isinstance(w, ReviewWidget))
    assert review.view is not None, review.told.text()
    shoot(viewer, screenshots, "napari-track-review")
    squeezed = [name for name, button in review.buttons.items() if button.height() < button.sizeHint().height()]
    viewer.layers.selection = {viewer.layers["masks"]}
    press(viewer, "Return")
    answered = review.state["answered"]
    review.close_review()
    scales = [tuple(layer.scale) for layer in viewer.layers if layer.name in ("image", "masks", "tracks")]
    viewer.close()
    return {
        "told": told,
        "refused": refused,
        "cancelled": cancelled,
        "answered": answered,
        "tracks": len(tracks.data),
        "frames": frames,
        "scales": scales,
        "squeezed": squeezed,
    }


def review(output: str, screenshots: str) -> dict[str, Any]:
    """An output is opened by the reader, and everything is said with keys, buttons and clicks."""
    viewer = new_viewer()
    viewer.open(output, plugin="dunno")
    names, begins = [layer.name for layer in viewer.layers], int(viewer.dims.current_step[0])
    _, widget = viewer.window.add_plugin_dock_widget("dunno", "Review")
    widget.name.setText("nina")
    widget.opened.click()
    assert widget.view is not None, widget.told.text()
    first = widget.view
    centre = getattr(viewer, "scene", viewer).camera.center
    at = viewer.dims.current_step[0]
    shoot(viewer, screenshots, "napari-review")
    button = widget.accept_button.text()
    press(viewer, "Return")
    second = widget.view
    press(viewer, "K")
    assert "is no cell" in widget.told.text(), widget.told.text()
    press(viewer, "U")
    again = widget.view
    press(viewer, "R")
    widget.buttons["two_cells"].click()
    assert "holds two cells" in widget.told.text(), widget.told.text()
    widget.buttons["pick_place"].click()
    t = widget.view["pair"] + 1
    widget.click((t, 1.0, 1.0))
    assert "is missing in frame" in widget.told.text(), widget.told.text()
    earlier = widget.desk.review.frame_cells(t - 1)
    cell = int(np.argmax(earlier.area))
    widget.click((t - 1, *earlier.centroid[cell]))
    clicked = widget.told.text()
    tracks = viewer.layers["tracks"]
    shoot(viewer, screenshots, "napari-after")
    around = look_around(viewer, widget, screenshots)
    press(viewer, "Home")
    viewer.dims.set_point(0, 2.0)
    press(viewer, "Right")
    own = int(viewer.dims.current_step[0])
    widget.close_review()
    there = [str(key) for key in viewer.keymap]
    viewer.close()
    with Review.open(output, read_only=True) as opened:
        said = [(answer.who, answer.decision.to_dict()) for answer in opened.standing]
    return {
        "names": names,
        "begins": begins,
        "napari's own": [own, there],
        "first": [first["frame"], first["label"]],
        "same": again["row"] == second["row"],
        "button": button,
        "default": next(c["words"] for c in first["choices"] if c["reported"]),
        "centre": list(centre),
        "at": [int(at), first["pair"] + 1],
        "clicked": clicked,
        **around,
        "frames": sorted({int(row[1]) for row in tracks.data}),
        "said": said,
    }


def look_around(viewer: Any, widget: ReviewWidget, screenshots: str) -> dict[str, Any]:
    """The heat map, the family's tree and the export button."""
    heat = viewer.layers["doubt"]
    hidden = heat.visible
    press(viewer, "H")
    shoot(viewer, screenshots, "napari-heat")
    field = overview(widget.desk.review)
    square = max(field["squares"], key=lambda each: each["expected"])
    widget.go_where_it_is_doubtful([(square[name] + 0.5) * field["size"] for name in ("y", "x")])
    doubtful = widget.view["row"] == square["row"]
    cells = widget.family.family["cells"]
    other = next(k for k, cell in enumerate(cells) if cell["row"] is not None and k != widget.family.family["here"])
    place = widget.family.places()[other]
    QTest.mouseClick(widget.family, Qt.MouseButton.LeftButton, pos=place.toPoint())
    widget.buttons["export"].click()
    return {
        "heat": [hidden, heat.visible, float(heat.data.max()), square["expected"]],
        "doubtful": doubtful,
        "went": [widget.view["row"], cells[other]["row"]],
        "drawn": [cell["row"] for cell in widget.family.family["cells"] if cell["row"] is not None],
        "exported": widget.told.text(),
    }


def read(output: str, screenshots: str) -> dict[str, Any]:
    """Sample data with one menu click, and a folder that is not dunno's."""
    viewer = new_viewer()
    viewer.open_sample("dunno", "demo")
    names, begins = [layer.name for layer in viewer.layers], int(viewer.dims.current_step[0])
    shoot(viewer, screenshots, "napari-demo")
    _, widget = viewer.window.add_plugin_dock_widget("dunno", "Review")
    widget.opened.click()
    asked = widget.view is not None
    widget.close_review()
    widget.output.setText(screenshots)
    widget.opened.click()
    refused = widget.told.text()
    viewer.close()
    return {"names": names, "begins": begins, "asked": asked, "refused": refused}


if __name__ == "__main__":
    step, *places = sys.argv[1:]
    sys.stdout.write("RESULT " + json.dumps({"track": track, "review": review, "read": read}[step](*places)) + "\n")
    sys.stdout.flush()
