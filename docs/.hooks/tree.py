"""Rewrites links from pages to files of the source tree that are not pages, such as `../BENCHMARKS.md`.

A forge such as GitHub shows such files, but the website does not contain them. If `repo_url` is set, the links lead to
the forge; otherwise only their text remains. A link to a missing file is a warning, and so an error in a strict build.
"""

import logging
import posixpath
import re
from pathlib import Path

LOG = logging.getLogger("mkdocs.hooks.tree")
ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\.?/[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, **_):
    folder = posixpath.dirname("docs/" + page.file.src_uri)

    def link(match):
        text, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith("docs/"):
            return match.group()
        if path.startswith("..") or not (ROOT / path).exists():
            LOG.warning("%s links to %s, which is not in the tree", page.file.src_uri, target)
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{path}{anchor or ''})"
        return text

    return LINK.sub(link, markdown)
