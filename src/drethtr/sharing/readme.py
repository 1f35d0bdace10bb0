"""The README of a model, generated from its card: Markdown with metadata for the Hugging Face Hub.

Card entries are data: they are escaped so that they cannot break tables, hide links, or become HTML or metadata. The
metadata are written here rather than by `huggingface_hub.ModelCardData`, which would save twenty lines and make every
`save_pretrained` need the Hub's package.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drethtr.base.version import __version__
from drethtr.recognition.decoding.strategies import decoder_name
from drethtr.recognition.model.file import Model
from drethtr.sharing.card import RATE, WER, alphabet, has_rate, is_stated, mappings, missing_entries, rate_of

LICENSES = frozenset({"apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0"})
"""Licenses whose identifier on the Hub is their usual name with hyphens for spaces."""

TASK = "image-to-text"
HUB_DATA = re.compile(r"huggingface\.co/datasets/([\w.-]+/[\w.-]*\w)")

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

This is the model `{hash}`, written by drethtr {version}; every output records the first 12 digits of this hash.
"""


def readme(model: Model, repository: str) -> str:
    """The README; `repository` is the name of the model on the Hub."""
    card = model.card
    use = USE.format(repository=repository, hash=model.hash, version=__version__)
    sections = (
        (None, stated(card, "description")),
        (None, [use]),
        ("Accuracy", rates(card.get("evaluation"))),
        ("Confidence", confidences(model)),
        ("Alphabet and conventions", [*stated(card, "normalization"), *block(alphabet(model))]),
        ("Training data", data(card.get("data"))),
        ("Limitations", [f"- {safe(item)}" for item in listed(card.get("weaknesses"))]),
        ("License", stated(card, "license")),
        ("Training", [*stated(card, "history"), *block(card.get("command", ""))]),
        ("Missing information", [f"- {safe(gap.what)}" for gap in missing_entries(model)]),
    )
    parts = [head(card), f"# {safe(card.get('name', 'A drethtr model'))}"]
    for title, lines in sections:
        if lines:
            parts += [f"## {title}"] if title else []
            parts.append("\n".join(lines).strip("\n"))
    return "\n\n".join(parts) + "\n"


def head(card: Mapping[str, Any]) -> str:
    """The metadata for the Hub, in YAML, of which JSON is a subset."""
    entries: dict[str, Any] = {}
    if is_stated(card.get("license")):
        name = "-".join(str(card["license"]).lower().split())
        entries |= {"license": name} if name in LICENSES else {"license": "other", "license_name": card["license"]}
    if languages := listed(card.get("languages")):
        entries["language"] = languages
    entries |= {"library_name": "drethtr", "pipeline_tag": TASK, "metrics": ["cer", "wer"]}
    entries["tags"] = ["handwriting", "htr", "ocr"]
    if on_hub := data_sets_on_hub(card.get("data")):
        entries["datasets"] = on_hub
    if results := measured(card.get("evaluation")):
        entries["model-index"] = [{"name": str(card.get("name", "A drethtr model")), "results": results}]
    rows = (f"{key}: {json.dumps(value, ensure_ascii=True)}" for key, value in entries.items())
    return "\n".join(["---", *rows, "---"])


def data_sets_on_hub(entries: Any) -> list[str]:
    """The Hub names of training sets whose source is on the Hub."""
    found = (HUB_DATA.search(str(entry.get("source", ""))) for entry in mappings(entries))
    return list(dict.fromkeys(match[1] for match in found if match))


def measured(evaluation: Any) -> list[dict[str, Any]]:
    """The error rates of each set in percent, in the Hub's format for results."""
    results = []
    for row in mappings(evaluation.get("sets")) if isinstance(evaluation, Mapping) else ():
        metrics = [
            {"type": kind, "name": f"{kind.upper()} %", "value": round(100 * row[names[1]], 2)}
            for kind, names in (("cer", RATE), ("wer", WER))
            if has_rate(row, names)
        ]
        if metrics:
            name = str(row.get("name", ""))
            results.append({"task": {"type": TASK}, "dataset": {"name": name, "type": name}, "metrics": metrics})
    return results


def rates(evaluation: Any) -> list[str]:
    """A table of error rates per set and overall, with the conventions."""
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
    """A rate in percent, with its interval if there is one; "" if there is no rate."""
    found = rate_of(row, names)
    if found is None:
        return f"{100 * row[names[1]]:.1f}" if has_rate(row, names) else ""
    low, middle, high = (f"{100 * value:.1f}" for value in found)
    return f"{middle} ({low} to {high})"


def confidences(model: Model) -> list[str]:
    """Which decoders have calibrated confidences."""
    found = (decoder_name(decoder) for each in model.record.calibrations for decoder in each.strategies)
    known = [f"`{name}`" for name in dict.fromkeys(found)]  # each once, though every precision has its own calibration
    if not known:
        return ["The confidences are not calibrated: they are raw probabilities of the network."]
    return [f"Confidences are calibrated probabilities of being correct, with the decoders {', '.join(known)}."]


def data(entries: Any) -> list[str]:
    """A table of the training data, with license and source."""
    keys = ("set", "license", "source")
    rows = [[entry.get(key, "") for key in keys] for entry in mappings(entries)]
    return list(table(keys, rows)) if rows else []


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(map(safe, row))} |"


def stated(card: Mapping[str, Any], key: str) -> list[str]:
    """An entry of a card as text, if it has content."""
    return [safe(card[key])] if is_stated(card.get(key)) else []


def block(value: Any) -> list[str]:
    """A value verbatim, in a code block."""
    text = " ".join(str(value).split())
    return ["", f"    {text}"] if text else []


def listed(value: Any) -> list[str]:
    """The strings in a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def safe(value: Any) -> str:
    """A value as text on one line, with Markdown escaped."""
    return " ".join(str(value).split()).translate(SPECIAL)
