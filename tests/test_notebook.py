"""A notebook with typical commands, run by Jupyter's own client and kernel."""

import pytest
from made_pages import TEXTS, blank, write

CELLS = (
    "from drethtr import Recognizer, transcribe_page\nrecognizer = Recognizer.load({model!r})",
    "recognizer.read([{line!r}, {line!r}])",
    "recognizer.read([{line!r}])[0]",
    "transcribe_page({line!r}, recognizer)",
)


@pytest.mark.filterwarnings("ignore")  # from Jupyter
def test_a_notebook_shows_readings_and_pages(tiny_path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    line = tmp_path / "line.png"
    write(blank(700, 90), TEXTS[:1], top=20).image.save(line)
    filled = [cell.format(model=str(tiny_path), line=str(line)) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, filled)))
    nbclient.NotebookClient(notebook, timeout=120).execute()
    nbformat.validate(notebook)
    shown = [output["data"]["text/html"] for cell in notebook.cells for output in cell.outputs if "data" in output]
    assert [html.count("<img") for html in shown] == [2, 1, 1]
    assert "line.png · lines: 1" in shown[2]
