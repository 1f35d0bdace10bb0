"""The card of a model as the page that people read first: Markdown, its head as the Hugging Face hub understands it.

What a card says is data: it can neither break a table nor hide a link, nor become HTML or an entry of the head.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drethtr.base.version import __version__
from drethtr.recognition.model_file import Model
from drethtr.sharing.card import RATE, WER, alphabet, gaps, has_rate, is_stated, mappings, rate_of

LICENSES = frozenset({"apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0"})
"""Those of the hub's names that are spelled as people spell them, hyphens apart."""

SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "|*`[]\\~#$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})

USE = """\
```
pip install 'drethtr[hub]'
```

```python
from drethtr import from_pretrained

recognizer = from_pretrained("{repository}")
[reading] = recognizer.read(["line.png"])
print(reading.text, reading.confidence, reading.flags)
```

This is the model `{hash}`, written by drethtr {version}; every output names the first 12 digits.
"""


def readme(model: Model, repository: str) -> str:
    """The page; `repository` is where others find the model."""
    card = model.card
    use = USE.format(repository=repository, hash=model.hash, version=__version__)
    sections = (
        (None, stated(card, "description")),
        (None, [use]),
        ("How well it reads", rates(card.get("evaluation"))),
        ("When to believe it", confidences(model)),
        ("What it writes", [*stated(card, "normalization"), *block(alphabet(model))]),
        ("What it learned from", data(card.get("data"))),
        ("Weaknesses", [f"- {safe(item)}" for item in listed(card.get("weaknesses"))]),
        ("License of the weights", stated(card, "license")),
        ("How it was made", [*stated(card, "history"), *block(card.get("command", ""))]),
        ("Not told", [f"- {safe(gap.what)}" for gap in gaps(model)]),
    )
    parts = [head(card), f"# {safe(card.get('name', 'A model of drethtr'))}"]
    for title, lines in sections:
        if lines:
            parts += [f"## {title}"] if title else []
            parts.append("\n".join(lines).strip("\n"))
    return "\n\n".join(parts) + "\n"


def head(card: Mapping[str, Any]) -> str:
    """The entries that the hub files a model under, in YAML, of which JSON is a part."""
    entries: dict[str, Any] = {}
    if is_stated(card.get("license")):
        name = "-".join(str(card["license"]).lower().split())
        entries |= {"license": name} if name in LICENSES else {"license": "other", "license_name": card["license"]}
    if languages := listed(card.get("languages")):
        entries["language"] = languages
    entries |= {"library_name": "drethtr", "pipeline_tag": "image-to-text", "metrics": ["cer", "wer"]}
    entries["tags"] = ["handwriting", "htr", "ocr"]
    rows = (f"{key}: {json.dumps(value, ensure_ascii=True)}" for key, value in entries.items())
    return "\n".join(["---", *rows, "---"])


def rates(evaluation: Any) -> list[str]:
    """Error rates of each set and of all lines, and what they mean."""
    if not isinstance(evaluation, Mapping):
        return []
    overall = mappings([evaluation.get("overall")])
    named = [*mappings(evaluation.get("sets")), *({**row, "name": "all"} for row in overall)]
    rows = [
        (row.get("name"), row.get("lines", ""), interval(row, RATE), interval(row, WER))
        for row in named
        if has_rate(row, RATE)
    ]
    if not rows:
        return []
    return [*table(("set", "lines", "CER %", "WER %"), rows), "", safe(evaluation.get("convention", ""))]


def interval(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """A rate in percent with the ends of its interval, alone if pages were too few for one, or nothing."""
    found = rate_of(row, names)
    if found is None:
        return f"{100 * row[names[1]]:.1f}" if has_rate(row, names) else ""
    low, middle, high = (f"{100 * value:.1f}" for value in found)
    return f"{middle} ({low} to {high})"


def confidences(model: Model) -> list[str]:
    """For which decoders confidences are probabilities."""
    known = [f"`{decoder!r}`" for found in model.trust.calibrations for decoder in found.strategies]
    if not known:
        return ["Its confidences are not calibrated: they are the network's own opinion of itself."]
    return [f"Confidences are calibrated: they are probabilities to be right, with the decoders {', '.join(known)}."]


def data(entries: Any) -> list[str]:
    """Everything that the model learned from, with license and source."""
    keys = ("set", "license", "source")
    rows = [[entry.get(key, "") for key in keys] for entry in mappings(entries)]
    return list(table(keys, rows)) if rows else []


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A table in Markdown."""
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(map(safe, row))} |"


def stated(card: Mapping[str, Any], key: str) -> list[str]:
    """An entry of a card as text, if it says something."""
    return [safe(card[key])] if is_stated(card.get(key)) else []


def block(value: Any) -> list[str]:
    """A value as it is, in a paragraph of its own that Markdown leaves alone."""
    text = " ".join(str(value).split())
    return ["", f"    {text}"] if text else []


def listed(value: Any) -> list[str]:
    """The texts of a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def safe(value: Any) -> str:
    """A value as text on one line that Markdown takes for nothing else."""
    return " ".join(str(value).split()).translate(SPECIAL)
