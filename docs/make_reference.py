"""Write the reference pages of the documentation from the code: commands, Python, formats, limits, HTTP.

    python docs/make_reference.py FOLDER

`make docs` does this for the web site. The pages are not in the repository, since `--help`, `help()` and
`GET /openapi.json` have the same content.
"""

import argparse
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import typer

from drethtr.cli.commands import walk
from drethtr.cli.main import app
from drethtr.datasets.layouts import LAYOUTS
from drethtr.documents.formats import FORMATS, LINE_FORMATS
from drethtr.documents.read import DIALECTS
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.server.description import description

STABLE = ("drethtr", "drethtr.documents", "drethtr.layout", "drethtr.pages", "drethtr.search")
"""Modules whose `__all__` is stable; a name in several of them is described in the first."""

METHODS: Mapping[str, tuple[str, ...]] = {
    "Model": ("hash", "identity", "parameter_count"),
    "Original": ("name", "is_alone", "is_line", "finder_name", "scan", "sheet", "given", "remarks"),
    "PageJob": ("run",),
    "Recognizer": ("load", "read", "read_each", "read_lines", "open_line", "settings", "provenance", "calibration"),
}
"""The stable methods of classes that have others, which only our own rooms need; of other classes, all are stable."""

LIMITS: Mapping[str, str] = {
    "pixels of an image": "images.decode.MAX_PIXELS",
    "pages of a PDF or TIFF": "images.page_file.MAX_PAGES",
    "processor seconds to open an image or page": "base.sandbox.SECONDS",
    "bytes of memory to open a file": "base.sandbox.MEMORY",
    "bytes of a PAGE, ALTO or METS file": "documents.markup.MAX_BYTES",
    "elements of such a file": "documents.markup.MAX_ELEMENTS",
    "files in a ZIP file": "base.archive.MAX_FILES",
    "bytes of a ZIP file, unpacked": "base.archive.MAX_BYTES",
    "bytes of a file in a ZIP file, unpacked": "base.archive.MAX_FILE_BYTES",
    "bytes of a downloaded scan": "base.web.MAX_BYTES",
    "seconds of a download": "base.web.MAX_SECONDS",
    "bytes of a line image in a Parquet file or at a URL": "datasets.parquet.MAX_IMAGE_BYTES",
    "rows of a row group for streamed training": "training.feed.streamed.MAX_BLOCK",
    "bytes of a settings or run file": "base.config.MAX_BYTES",
    "characters of a query": "search.query.MAX_LENGTH",
    "terms of a query": "search.query.MAX_TERMS",
    "hits of a query over HTTP": "server.service.MAX_HITS",
    "bytes of an upload": "server.uploads.MAX_BYTES",
    "files of an upload": "server.uploads.MAX_FILES",
    "seconds of an upload": "server.uploads.MAX_UPLOAD_SECONDS",
    "pages of an upload": "server.service.MAX_PAGES",
    "requests that wait": "server.service.MAX_REQUESTS",
}
"""The limits that users can hit. Each stands where it is enforced, with its reason; this is the one table of them."""


def write_reference(folder: Path) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"commands": commands(), "python": python(), "formats": formats(), "limits": limits(), "http": http()}
    for name, lines in pages.items():
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def commands() -> Iterator[str]:
    """Describe every command with its arguments and options, as in `--help`."""
    yield "# Commands\n"
    for words, command in walk(typer.main.get_command(app)):
        yield from described_command(command, " ".join(["drethtr", *words]))


def described_command(command: Any, name: str) -> Iterator[str]:
    """Describe a command."""
    context = typer.Context(command, info_name=name)
    yield f"## {name}\n\n```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n\n{plain(command.help)}\n"
    yield "| | | default |\n|---|---|---|"
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            yield row(spelling(parameter, context), plain(getattr(parameter, "help", "")), preset(parameter))
    yield ""


def spelling(parameter: Any, context: Any) -> str:
    """How an argument or option is typed."""
    value = parameter.make_metavar(context)
    if parameter.param_type_name == "argument":
        return f"`{value}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    typed = names if parameter.is_flag else f"{names} `{value}`"
    return f'<span style="white-space: nowrap">{typed}</span>'  # browsers break lines after each hyphen


def preset(parameter: Any) -> str:
    """The default of an option, if worth showing."""
    value = parameter.default
    if parameter.required:
        return "required"
    return "" if value is None or value is False or callable(value) else f"`{value}`"


def plain(text: str | None) -> str:
    """Convert help to Markdown: typer escapes brackets, and angle brackets are not tags."""
    return (text or "").replace("\\[", "[").replace("[", "\\[").replace("<", "&lt;").replace("*", "\\*")


def row(*cells: str) -> str:
    """A row of a table."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def python() -> Iterator[str]:
    """Describe the stable names with their signatures and docstrings."""
    yield "# Python\n\nThese names are stable; everything else may change between minor versions.\n"
    described: set[int] = set()
    for name in STABLE:
        module = import_module(name)
        yield f"## {name}\n\n{paragraphs(inspect.getdoc(module))}\n"
        for each in sorted(set(module.__all__) - {"__version__"}):
            thing = getattr(module, each)
            if id(thing) not in described:
                described.add(id(thing))
                yield from described_name(each, thing)


def described_name(name: str, thing: Any) -> Iterator[str]:
    """Describe a class with its stable methods, a function, or a value."""
    yield f"### {name}\n"
    if not callable(thing) or not hasattr(thing, "__module__") or not inspect.getmodule(thing):
        yield f"`{type(thing).__name__}`\n"
        return
    if not inspect.isclass(thing):
        yield f"```python\n{signature(name, thing)}\n```\n\n{paragraphs(inspect.getdoc(thing))}\n"
        return
    heading = signature(name, thing).removesuffix(" -> None")
    yield f"```python\nclass {heading}\n```\n\n{paragraphs(inspect.getdoc(thing))}\n"
    if issubclass(thing, Strategy):
        return  # its methods are for the recognizer
    members = vars(thing)
    for each in METHODS.get(name, members):
        member = members[each]
        inner = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if each.startswith("_") or not inspect.isfunction(inner) or not inner.__doc__:
            continue
        is_method = inner is member or hasattr(member, "__func__")
        heading = signature(each, getattr(thing, each)) if is_method else each
        yield f"```python\n{name}.{heading}\n```\n\n{paragraphs(inspect.getdoc(inner))}\n"


def signature(name: str, thing: Any) -> str:
    """A name with its arguments, one per line if there are many."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    text = re.sub(r"\b(?:drethtr|collections|pathlib|typing)\.(?:\w+\.)*", "", f"{name}{found}")
    text = re.sub(r"(: |-> )'([^']+)'", r"\1\2", text)
    text = re.sub(r"<function \S*?(\w+)>? at 0x\w+>", r"\1", text)
    if len(text) <= 100:
        return text
    start, arguments = text.split("(", 1)
    arguments, end = arguments.rsplit(")", 1)
    return f"{start}(\n    " + re.sub(r", (?![^\[]*\])", ",\n    ", arguments) + f",\n){end}"


def paragraphs(text: str | None) -> str:
    """Convert a docstring to Markdown: arguments and errors become lists, other indented paragraphs code blocks."""
    parts = []
    for part in (text or "").split("\n\n"):
        if part.startswith(("Args:\n", "Raises:\n")):
            heading, *entries = re.split(r"\n {4}(?=\S)", part.replace("<", "&lt;"))
            parts.append("\n".join([heading, "", *(entry(one) for one in entries)]))
            continue
        is_aligned = re.search(r"\S {2,}\S|^ {2,}\S", part, re.MULTILINE)
        parts.append(f"```text\n{dedent(part)}\n```" if is_aligned else part.replace("<", "&lt;"))
    return "\n\n".join(parts)


def entry(text: str) -> str:
    """An argument or error of a docstring as an entry of a list."""
    name, _, told = text.partition(":")
    return f"- `{name}`: {' '.join(told.split())}"


def formats() -> Iterator[str]:
    """Describe the formats that are read and written, from their registries."""
    yield "# Formats\n\n## Written for pages\n\n| `--format` | file | media type | one file holds |\n|---|---|---|---|"
    for name, format in FORMATS.items():
        yield row(f"`{name}`", f"`{format.ending}`", format.media, "all pages" if format.together else "one page")
    yield f"\n## Written for line images alone\n\n{', '.join(f'`{name}`' for name in LINE_FORMATS)}\n"
    yield "## Read as pages\n\n| format | root element | namespaces |\n|---|---|---|"
    for dialect in DIALECTS:
        yield row(dialect.name, f"`{dialect.root}`", "<br>".join(f"`{one}`" for one in dialect.namespaces))
    yield "\n## Read by `drethtr data import`\n\n| `--layout` | what it looks like |\n|---|---|"
    for layout in LAYOUTS:
        yield row(f"`{layout.name}`", plain(layout.description))
    schema = Path(inspect.getfile(import_module("drethtr.documents"))).with_name("page.schema.json")
    yield f"\n## JSON of a page\n\n```json\n{schema.read_text(encoding='utf-8').strip()}\n```"


def limits() -> Iterator[str]:
    """List the limits that users can hit, with their values and the modules that enforce them."""
    yield "# Limits\n\nWhat exceeds a limit is refused with a message that names it.\n"
    yield "| | at most | enforced in |\n|---|---:|---|"
    for what, place in LIMITS.items():
        module, name = place.rsplit(".", 1)
        yield row(
            what, f"{getattr(import_module(f'drethtr.{module}'), name):,.15g}", f"`{module.replace('.', '/')}.py`"
        )


def http() -> Iterator[str]:
    """Describe the requests for reading and searching."""
    described = description()
    yield f"# HTTP\n\n{described['info']['description']}\n\n`GET /openapi.json` has the same for programs.\n"
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield from described_request(f"{method.upper()} {path}", operation, described["components"]["responses"])
    yield "## Values\n"
    for name, value in described["components"]["schemas"].items():
        yield f"### {name}\n\n```json\n{json.dumps(value, indent=1, ensure_ascii=False)}\n```\n"


def described_request(name: str, operation: dict[str, Any], refusals: dict[str, Any]) -> Iterator[str]:
    """Describe the input and output of a request."""
    yield f"## `{name}`\n\n{plain(operation['summary'])}\n\n| | |\n|---|---|"
    for parameter in operation.get("parameters", ()):
        told = plain(parameter.get("description")) or f"One of{value_of(parameter['schema'])}."
        yield row(f"`{parameter['name']}` ({parameter['in']})", told)
    if "requestBody" in operation:
        yield row("takes", contents(operation["requestBody"]["content"]))
    for status, answer in operation["responses"].items():
        refusal = refusals.get(answer.get("$ref", "").rpartition("/")[2], {})
        yield row(status, refusal.get("description") or contents(answer["content"]))
    yield ""


def contents(content: dict[str, Any]) -> str:
    """Media types with their values."""
    return ", ".join(f"`{media}`{value_of(about.get('schema', {}))}" for media, about in content.items())


def value_of(schema: dict[str, Any]) -> str:
    """A link to the value that a schema refers to, if any."""
    found = re.search(r"#/components/schemas/(\w+)", json.dumps(schema))
    return f" [{found[1]}](#{found[1].lower()})" if found else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    write_reference(parser.parse_args().folder)
