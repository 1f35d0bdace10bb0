import pickle
from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.config import from_dict, to_dict
from drethtr.base.errors import ConfigError, DataError
from drethtr.images.line import load_line
from drethtr.synthesis.corpus import Spelling
from drethtr.synthesis.synthetic import Synthetic


@pytest.fixture
def config(make_font, tmp_path):
    make_font("one")
    make_font("two", letters="abcdefghijklmnopqrstuvwxyz")
    text = tmp_path / "novel_fra.txt"
    text.write_text("il y avait une fois un ROI et une fille sans souliers\n" * 20, encoding="utf-8")
    return Synthetic(fonts=str(tmp_path / "fonts"), texts=(str(text),))


def test_a_line_depends_on_seed_and_index_alone(config):
    first, second = config.build(), pickle.loads(pickle.dumps(config.build()))
    forward = [first.render(index, 1) for index in range(10)]
    backward = [second.render(index, 1) for index in reversed(range(10))][::-1]
    for one, other in zip(forward, backward, strict=True):
        assert one.text == other.text and np.array_equal(one.image, other.image)
    assert len({first.render(0, seed).line().tobytes() for seed in range(10)}) == 10


def test_samples_say_what_they_are(config):
    sample = config.build().render(5, 2)
    assert (sample.set, sample.language, sample.clean) == ("synthetic", "fr", True)
    assert sample.hand in ("one", "two") and "line 5 of seed 2" in sample.key
    assert sample.line().shape[0] == 64 and sample.line().dtype == np.uint8


def test_only_fonts_that_draw_the_text_are_taken(config):
    samples = [config.build().render(index, 0) for index in range(80)]
    assert {sample.hand for sample in samples if sample.text != sample.text.lower()} == {"one"}
    assert {sample.hand for sample in samples} == {"one", "two"}


def test_edges_come_with_the_same_line(config):
    synthesizer = config.build()
    for index in range(10):
        sample, writing = synthesizer.make(index, 0)
        edges = writing.edges()
        assert np.array_equal(sample.image, synthesizer.render(index, 0).image)
        assert len(edges) == len(sample.text)
        assert 0 <= edges[0][0] <= edges[-1][1] <= sample.line().shape[1]


def test_lines_are_dark_on_light_as_loaded_lines_are(config):
    for index in range(30):
        line = config.build().render(index, 3).line()
        assert np.array_equal(load_line(line), line)


def test_reading_fonts_and_texts_does_not_make_it_heavier(config):
    synthesizer = config.build()
    before = len(pickle.dumps(synthesizer))
    synthesizer.render(0, 0)
    assert len(pickle.dumps(synthesizer)) == before < 5000


def test_texts_no_font_can_draw_are_refused(config, tmp_path):
    (tmp_path / "greek.txt").write_text("ὦ ἄνδρες Ἀθηναῖοι\n", encoding="utf-8")
    wording = replace(config.wording, fragments=0, inserted=0)
    config = replace(config, texts=(str(tmp_path / "greek.txt"),), wording=wording)
    with pytest.raises(DataError, match=r"no font in .* has all characters of the texts"):
        config.build().render(0, 0)


def test_the_configuration_survives_being_written_down(config):
    assert from_dict(Synthetic, to_dict(config)) == config
    with pytest.raises(ConfigError, match="at least 16"):
        replace(config, height=5)


def test_texts_of_old_hands_stay_in_todays_spelling(config, make_font, tmp_path):
    (tmp_path / "novel_fra.txt").write_text("laſſer ſes soeurs\n" * 20, encoding="utf-8")
    make_font("old", letters="abcdefghijklmnopqrstuvwxyzſ")
    wording = replace(config.wording, fragments=0, inserted=0, words=0, hyphenated=0, capitals=0)
    synthesizer = replace(config, wording=wording, spelling=Spelling(long_s=1)).build()
    texts = {synthesizer.render(index, 0).text for index in range(20)}
    assert texts == {"lasser ses soeurs"}
