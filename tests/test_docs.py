"""Examples in docstrings and on pages run, commands on pages exist, links lead somewhere, and the site has what it needs.

A block of Python or `bash` on a page runs here, unless a comment right before it says what it needs:

    <!-- needs: Fluo-N2DL-HeLa -->

Blocks of a page run in order, in one folder. Lines of `text` blocks, and of those that need something, are checked too: each
`dunno` command must exist with the options that it is given.
"""

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

import dunno
from dunno.cli import COMMANDS, application, run

ROOT = Path(__file__).parent.parent
MODULES = [info.name for info in pkgutil.walk_packages(dunno.__path__, "dunno.") if info.name != "dunno.__main__"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WIDEST = 100
LATER: set[str] = set()
"""Pages that several people are writing at."""


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and what it needs to run ("" for nothing)."""

    language: str
    text: str
    needs: str

    @property
    def runs(self) -> bool:
        return self.language in ("python", "bash") and not self.needs


def blocks(page: Path) -> list[Block]:
    pattern = r"(?:<!-- needs: ([^\n]+?) -->\s*)?^```(\w*)\n(.*?)^```$"
    found = re.findall(pattern, page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [Block(language, text, needs) for needs, language, text in found]


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(text: str) -> list[list[str]]:
    """The words of each `dunno` line of a block, without comments."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("dunno ")]


@pytest.mark.filterwarnings("ignore::dunno.errors.DunnoWarning")  # short movies, as a reader would see them
@pytest.mark.parametrize("page", [page for page in PAGES if any(b.runs for b in blocks(page))], ids=name_of)
def test_code_on_the_pages_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks(page):
        if block.runs and block.language == "python":
            exec(compile(block.text, str(page), "exec"), namespace)
        elif block.runs:
            run_shell(block.text)


def run_shell(text: str) -> None:
    """`dunno` lines run in this process, which saves starting Python; everything else is left to a shell."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["dunno"]:
            assert run(words[1:]) == 0, line
        elif words:
            subprocess.run(["bash", "-ec", line], check=True)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in LATER], ids=name_of)
def test_shell_blocks_run_or_say_what_they_need(page: Path) -> None:
    nameless = [block.text for block in blocks(page) if not block.language]
    shell = [text for text in nameless if re.search(r"^(dunno|make|pip|python|uvx) ", text, flags=re.MULTILINE)]
    assert not shell, f"{name_of(page)}: `python docs/tidy.py {name_of(page)}` marks it: {shell[0][:60]} …"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_that_needs_something_is_python_at_least(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, str(page), "exec")


OPTION = re.compile(r"--[a-z][a-z-]*")


def command_named(words: list[str]) -> tuple[object, list[str]]:
    """The command that words call, and the rest of them."""
    command = typer.main.get_command(application(*COMMANDS))
    rest = words[1:]
    while getattr(command, "commands", None) and rest and not rest[0].startswith("-"):
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_commands_on_the_pages_exist(page: Path) -> None:
    in_blocks = [words for block in blocks(page) for words in commands(block.text)]
    inline = [f"dunno {text}" for text in re.findall(r"`dunno ([^`]+)`", prose(page))]
    known = typer.main.get_command(application(*COMMANDS)).commands
    for words in in_blocks + [text.split() for text in inline if text.split()[1] in known]:
        command, rest = command_named(words)
        offered = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
        offered |= {"--help", "--install-completion", "--version"}
        asked = {found for word in rest for found in OPTION.findall(word) if word.lstrip("[(").startswith("--")}
        assert asked <= offered, f"{' '.join(words)}: no such option as {sorted(asked - offered)}"


def anchors(page: Path) -> set[str]:
    """What can be linked to on a page, as GitHub and the site name headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings]
    return {re.sub(r"\s", "-", each) for each in plain} | {re.sub(r"[\s-]+", "-", each) for each in plain}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target) or (page.parent / target).name == "commands.md":
            continue  # elsewhere, or made with the site
        there = page if not target else page.parent / target
        assert there.exists(), f"{name_of(page)}: {link}"
        assert not anchor or anchor in anchors(there), f"{name_of(page)}: {link}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in LATER], ids=name_of)
def test_pages_are_wrapped(page: Path) -> None:
    long = [line for line in prose(page).splitlines() if len(line) > WIDEST and wraps(line)]
    assert not long, f"{name_of(page)}: wrap it with `python docs/tidy.py {name_of(page)}`: {long[0][:60]} …"


def wraps(line: str) -> bool:
    """Whether a line could be shorter: not a table, a picture, or one long word."""
    return not line.lstrip().startswith(("|", "![", "<!--")) and not line.startswith("    ") and len(line.split()) > 2


def test_the_readme_is_short_and_has_two_pictures() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"!\[[^\]]+\]\(docs/figures/", text)) >= 2


def test_the_architecture_is_read_in_five_minutes() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().split()) <= 1000


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_are_closed(page: Path) -> None:
    fences = [line for line in page.read_text().splitlines() if line.startswith("```")]
    assert len(fences) % 2 == 0 and set(fences[1::2]) <= {"```"}


def test_every_picture_is_described() -> None:
    for page in PAGES:
        assert not re.findall(r"!\[\s*\]\(", page.read_text()), name_of(page)


def test_figures_are_made_by_a_command() -> None:
    scripts = "".join(path.read_text() for path in (ROOT / "docs").rglob("make_*.py"))
    for picture in (ROOT / "docs" / "figures").glob("*.png"):
        assert picture.name in scripts or picture.stem in scripts, picture.name


def test_the_version_is_the_same_everywhere() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert version is not None
    assert f"version: {version[1]}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version[1].rsplit('.', 1)[0]}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_site_builds_without_network_and_leaves_no_page_out(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs the extra docs: pip install 'dunno[docs]'")
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "-q",
            "--strict",
            "-f",
            str(ROOT / "mkdocs.yml"),
            "-d",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert made.returncode == 0, made.stdout + made.stderr
    home = (tmp_path / "index.html").read_text()
    for page in PAGES:
        if page.parent == ROOT / "docs":
            assert f"{page.stem}.html" in home, page.name  # in the navigation
    assert "--max-gap" in (tmp_path / "reference" / "commands.html").read_text()
    assert "worth 5 edges" in (tmp_path / "reference" / "parameters.html").read_text()
    loaded = r'<(?:script|img|iframe)[^>]*src="(https?://[^"]+)"|<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*href="(https?://[^"]+)"'
    for made_page in tmp_path.rglob("*.html"):
        if made_page.parent.name != "benchmark":
            assert not re.findall(loaded, made_page.read_text()), made_page.name
