"""A card as a page: all that it tells, and nothing that it could smuggle in."""

from dataclasses import replace

from huggingface_hub import ModelCard
from sharing_examples import CARD, RATES, complete

from drethtr.sharing.readme import readme


def test_the_page_tells_what_the_card_tells(tiny_model):
    page = readme(complete(tiny_model), "ada/letters")
    for fact in ("# tiny", "CC BY 4.0", "| letters | CC0 | Ada |", "| letters | 120 | 10.0 (5.0 to 20.0) |", "by hand"):
        assert fact in page
    for fact in (
        'from_pretrained("ada/letters")',
        "decoders `ctc`",
        "    abcdefghij",
        complete(tiny_model).hash,
    ):
        assert fact in page
    assert "## Missing information" not in page


def test_a_decoder_calibrated_in_two_precisions_is_named_once(tiny_model):
    known = complete(tiny_model)
    both = replace(known.record, calibrations=known.record.calibrations * 2)
    assert "with the decoders `ctc`." in readme(replace(known, record=both), "ada/letters")


def test_of_few_pages_the_rate_stands_alone(tiny_model):
    alone = RATES | {"drawn": 5} | dict.fromkeys(("cer_low", "cer_high", "wer_low", "wer_high"))
    evaluation = CARD["evaluation"] | {"sets": [{"name": "letters", **alone}], "overall": alone}
    page = readme(replace(complete(tiny_model), card=CARD | {"evaluation": evaluation}), "ada/letters")
    assert "| letters | 120 | 10.0 | 30.0 |" in page
    assert "- a character error rate on at least 100 lines of 6 pages" in page.partition("## Missing information")[2]


def test_the_hub_understands_the_head(tiny_model):
    head = ModelCard(
        readme(replace(complete(tiny_model), card=CARD | {"languages": ["en"]}), "ada/letters")
    ).data.to_dict()
    assert {"license": "cc-by-4.0", "library_name": "drethtr", "language": ["en"]}.items() <= head.items()
    other = ModelCard(readme(replace(tiny_model, card={"license": "Mine: all rights\n---"}), "ada/letters")).data
    assert (other.license, other.license_name) == ("other", "Mine: all rights\n---")


def test_the_hub_lists_error_rates_and_data_sets(tiny_model):
    sources = ["See https://huggingface.co/datasets/Teklia/RIMES-2011-line.", "Ada", "https://example.org/datasets/a/b"]
    card = CARD | {"data": [{"set": f"s{number}", "source": source} for number, source in enumerate(sources)]}
    data = ModelCard(readme(replace(complete(tiny_model), card=card), "ada/letters")).data
    assert data.pipeline_tag == "image-to-text" and data.datasets == ["Teklia/RIMES-2011-line"]
    assert data.model_name == "tiny"
    found = {(row.dataset_name, row.task_type, row.metric_type, row.metric_value) for row in data.eval_results}
    assert found == {("letters", "image-to-text", "cer", 10.0), ("letters", "image-to-text", "wer", 30.0)}


def test_what_is_not_told_is_said_so(tiny_model):
    page = readme(replace(tiny_model, card={}), "ada/letters")
    assert "# A drethtr model" in page and "not calibrated" in page
    assert "- the license of the weights" in page.partition("## Missing information")[2]


def test_a_card_of_a_stranger_stays_text(tiny_model):
    bad = "<script>x</script> | [here](http://bad)\n# Title\n---"
    card = {
        "name": bad,
        "description": bad,
        "license": bad,
        "normalization": bad,
        "history": bad,
        "command": "a\nb",
        "languages": [bad, 3],
        "weaknesses": [bad],
        "data": [{"set": bad, "license": bad, "source": bad}, 3, {"set": None}],
        "evaluation": {"convention": bad, "sets": [{"name": bad, **RATES}, "x", {"cer": bad}], "overall": RATES},
    }
    page = readme(replace(tiny_model, card=card), "ada/letters")
    head, body = page[4:].split("\n---\n", 1)
    assert "<script>" not in body and "[here](" not in body.replace("\\]", "")
    assert any(row.startswith("| &lt;") for row in body.splitlines())
    for row in body.splitlines():
        if row.startswith("|"):
            assert row.count("|") - row.count("\\|") in (4, 5)
        assert not row.startswith("# Title") and row != "---"
    assert len(head.splitlines()) == 8 and ModelCard(page).data.license == "other"


def test_a_card_of_odd_values_makes_a_page(tiny_model):
    odd = dict.fromkeys(("name", "license", "data", "evaluation", "weaknesses", "languages", "command", "history"), 3)
    assert "# 3" in readme(replace(tiny_model, card=odd), "ada/letters")
