from drethtr import Recognizer
from drethtr.bench import editor


def test_every_request_is_answered_and_timed(tiny_path):
    figures = editor.measure(2, 3, Recognizer.load(tiny_path))
    assert len({figure.name for figure in figures}) == 9 and all(figure.seconds > 0 for figure in figures)
    assert editor.table(figures).count("\n") == 10
