"""The napari plugin: read outputs, track a labels layer, review with the page's engine (`docs/napari.md`).

Nothing is decided here: `tracking` tracks, `review` asks and takes decisions. This room only draws layers and listens to keys.
"""
