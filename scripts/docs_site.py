"""Hooks of the documentation site: pages made from the code, links that lead out of docs/, scripts that the gateway's
Content-Security-Policy lets run.

Nothing here is written into docs/: pages are made while the site is built (`make docs`, tests/docs/test_site.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from docs_reference import REFERENCE, first_sentence, page_title
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

import ugs

PROJECT = Path(__file__).parents[1]
COPIED = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages that lie outside docs/, by their place on the site."""
FENCE = re.compile(r"^```(\w+) (?:run|out|serve)$", re.MULTILINE)
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
INLINE_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
UNUSED = ("sitemap.xml*", "404.html", "**/*.map", "assets/javascripts/lunr/**/*.js", "assets/images/social/*")
"""What the theme writes and nothing needs: a map for search engines, which needs an address; other languages."""
ROW_OF_PAGE = "- [{title}]({url}): {about}\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The version that the pages are about stands in the header; decisions are listed by their files."""
    config.site_name = f"UGS Gateway {ugs.__version__}"
    decisions = sorted((Path(config.docs_dir) / "decisions").glob("[0-9]*.md"))
    listed = [f"decisions/{path.name}" for path in decisions]
    config.nav = [
        {"Decisions": ["decisions/README.md", *listed]} if entry == {"Decisions": "decisions/"} else entry
        for entry in config.nav or []
    ]
    placed = set(_placed(config.nav))
    unplaced = [path.name for path in sorted(Path(config.docs_dir).glob("*.md")) if path.name not in placed]
    config.nav += [{"More": list(unplaced)}] if unplaced else []
    return config


def _placed(entry: object) -> Iterator[str]:
    """The pages that the navigation names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict | list):
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from _placed(below)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and what pages link to outside docs/."""
    made: dict[str, str | bytes] = {name: (PROJECT / source).read_text("utf-8") for name, source in COPIED.items()}
    made |= {name: make() for name, make in REFERENCE.items()}
    for link in sorted(set(_links_out(files))):
        made[f"source/{link}.txt"] = (PROJECT / link).read_bytes()
    for name, content in made.items():
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """What the tests need to know of a block is not for readers, and links out of docs/ lead to copies."""
    return FENCE.sub(r"```\1", LINK.sub(lambda found: _relinked(found, page.file.src_uri), markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Scripts and styles within a page become files, as the policy of the gateway allows none inline."""
    root = "../" * page.file.dest_uri.count("/") or "./"
    output = output.replace(' style="text-align: right;"', ' align="right"')
    output = INLINE_SCRIPT.sub(lambda found: _moved(found[1], "js", root, config), output)
    return INLINE_STYLE.sub(lambda found: _moved(found[1], "css", root, config), output)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the pages for `llms.txt`, in the order of the navigation."""
    config.extra["pages"] = nav.pages
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write `llms.txt`: every page with its first sentence, for readers that are programs."""
    pages: list[Page] = config.extra["pages"]
    rows = []
    for page in pages:
        text = page.markdown or ""
        rows.append(ROW_OF_PAGE.format(title=page_title(text), url=f"/docs/{page.url}", about=first_sentence(text)))
    head = f"# UGS Gateway {ugs.__version__}\n\n> {config.site_description}\n\n## Pages\n\n"
    Path(config.site_dir, "llms.txt").write_text(head + "".join(rows), "utf-8")
    for pattern in UNUSED:
        for path in Path(config.site_dir).glob(pattern):
            path.unlink()


def _links_out(files: Files) -> Iterator[str]:
    """The files that pages link to which are not on the site, by their path in the project."""
    for page in files.documentation_pages():
        yield from _outside(page.src_uri, page.content_string)
    for name, source in COPIED.items():
        yield from _outside(name, (PROJECT / source).read_text("utf-8"))


def _outside(src_uri: str, text: str) -> Iterator[str]:
    for found in LINK.finditer(text):
        target = _project_path(src_uri, found[2])
        if target is not None and not target.startswith("docs/") and target not in COPIED.values():
            yield target


def _project_path(src_uri: str, link: str) -> str | None:
    """The file in the project that a link of a page means; None for other links."""
    place = link.partition("#")[0]
    if not place or ":" in place or place.startswith("/"):
        return None
    home = PROJECT if src_uri in COPIED else (PROJECT / "docs" / src_uri).parent
    target = (home / place).resolve()
    return target.relative_to(PROJECT).as_posix() if target.is_file() and target.is_relative_to(PROJECT) else None


def _relinked(found: re.Match[str], src_uri: str) -> str:
    target = _project_path(src_uri, found[2])
    if target is None:
        return found[0]
    _, mark, fragment = found[2].partition("#")
    return f"{found[1]}({'../' * src_uri.count('/')}{_on_site(target)}{mark}{fragment})"


def _on_site(target: str) -> str:
    copied = {source: name for name, source in COPIED.items()}
    if target in copied:
        return copied[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else f"source/{target}.txt"


def _moved(text: str, kind: str, root: str, config: MkDocsConfig) -> str:
    """The tag of a file that holds what stood within the page."""
    # The theme tells a script where the site begins by writing it into the script; a file is told by its tag.
    text = re.sub(r'new URL\("[^"]*",location\)', "new URL(document.currentScript.dataset.base,location)", text)
    name = f"assets/inline/{sha256(text.encode()).hexdigest()[:12]}.{kind}"
    path = Path(config.site_dir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    if kind == "css":
        return f'<link rel="stylesheet" href="{root}{name}">'
    return f'<script src="{root}{name}" data-base="{root.rstrip("/")}"></script>'
