"""What MkDocs asks for while it builds the site."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]


def _beside(name: str) -> ModuleType:
    """Import a file beside this one; MkDocs loads hooks by path, outside any package."""
    spec = importlib.util.spec_from_file_location(f"dunno_site_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


navigation, commands, parameters = _beside("navigation"), _beside("commands"), _beside("parameters")


def on_config(config: Any) -> Any:
    """Take the pages that exist."""
    config["nav"] = navigation.navigation(Path(config["docs_dir"]))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the references that are made, and the pages at the repository's root."""
    files.append(File.generated(config, navigation.COMMANDS, content=commands.page()))
    files.append(File.generated(config, navigation.PARAMETERS, content=parameters.page()))
    for name in navigation.ROOT_PAGES:
        text = (ROOT / f"{name}.md").read_text()
        files.append(File.generated(config, f"{name.lower()}.md", content=from_root(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links that leave docs/ to where the site has the page, and take those to source files for names."""
    depth = page.file.src_uri.count("/")
    return into_site(markdown, up="../" * depth)


def from_root(text: str) -> str:
    """A page at the root, as if it were in docs/."""
    text = re.sub(r"\]\(docs/", "](", text)
    roots = "|".join(navigation.ROOT_PAGES)
    text = re.sub(rf"\]\(({roots})\.md", lambda found: f"]({found[1].lower()}.md", text)
    return re.sub(r"\]\(README\.md\)", "](index.md)", text)


def into_site(text: str, up: str) -> str:
    """A page in docs/ (`up` leads to docs/): root pages are on the site, source files are not."""
    roots = "|".join(navigation.ROOT_PAGES)
    text = re.sub(rf"\]\({up}\.\./({roots})\.md", lambda found: f"]({up}{found[1].lower()}.md", text)
    text = re.sub(rf"\]\({up}\.\./README\.md", f"]({up}index.md", text)
    return re.sub(rf"\[([^\]]*)\]\({re.escape(up)}\.\./(?:src|tests|benchmarks)/[^)]*\)", r"\1", text)
