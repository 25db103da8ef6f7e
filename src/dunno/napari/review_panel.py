"""What the widget Review is made of: fields, words, a list of choices, and a button for each key."""

from __future__ import annotations

from qtpy.QtWidgets import QGridLayout, QLabel, QLineEdit, QListWidget, QPushButton, QVBoxLayout, QWidget

from dunno.napari.family_tree import FamilyTree

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
