"""The characters that are offered for a page: those of its language first."""

from edited_folders import put_page

from drethtr.editing import Workspace
from drethtr.editing.changes import LineEdit
from drethtr.editing.characters import special_characters
from drethtr.recognition.model.file import SHIPPED, load_model

GERMAN = ("Ich bin müde von den Büchern, die er mir schickt", "und daß es schön gewesen sei, weiß niemand mehr")
FRENCH = ("la guerre est déclarée, écrit-il à sa mère", "et le père était déjà tombé à l’été")


def put_texts(folder, page, texts):
    for line, text in zip(folder.opened(page).lines, texts, strict=False):
        folder.edit_line(page, line.id, line.revision, LineEdit(text=text))


def test_the_language_of_a_page_goes_before_others_of_the_folder(tmp_path):
    for stem, lines in (("de", 2), ("fr", 2), ("none", 0)):
        put_page(tmp_path, stem, lines=lines)
    model = load_model(SHIPPED)
    with Workspace.open(tmp_path) as folder:
        german, french, empty = (row["id"] for row in folder.pages())
        put_texts(folder, german, GERMAN)
        put_texts(folder, french, FRENCH)
        in_german, in_french, nowhere = (special_characters(folder, page, model) for page in (german, french, empty))
    assert set(in_german["language"][:4]) == set("ßüöä")
    assert {"é", "è"} <= {*in_german["language"], *in_german["used"]}
    assert set(in_french["language"][:4]) >= set("éàè") and in_french["used"][0] == "ß"
    assert nowhere["language"] == [] and nowhere["used"][0] == "é"
    for groups in (in_german, in_french, nowhere):
        found = [one for group in groups.values() for one in group]
        assert len(found) == len(set(found)) and {"ſ", "ñ", "ß", "é"} <= set(found)
