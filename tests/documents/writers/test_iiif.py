import json
from dataclasses import replace

from page_examples import PROVENANCE, document_of, letter_page, with_texts

from drethtr.documents import FORMATS, Canvas, Document, Page, PageFlag, Region, TextLine, Transcription

CANVAS = "https://example.org/book/canvas/7"


def annotation_page(page, canvas=None, number=None):
    sheet = replace(document_of(page).sheets[0], canvas=canvas, number=number)
    return json.loads(FORMATS["iiif"].write(Document((sheet,), PROVENANCE)))


def of_granularity(page, granularity):
    return [
        (item["body"]["value"], item["target"]) for item in page["items"] if item.get("textGranularity") == granularity
    ]


def test_lines_and_words_are_annotations_of_the_canvas():
    written = annotation_page(letter_page(), Canvas(CANVAS, 800, 600))
    assert written["type"] == "AnnotationPage" and written["label"] == {"none": ["letter.jpg"]}
    assert of_granularity(written, "line")[0] == ("Liebe Mutter, daſs ich", f"{CANVAS}#xywh=50,50,440,40")
    words = of_granularity(written, "word")
    assert words[0] == ("Liebe", f"{CANVAS}#xywh=50,50,100,40") and len(words) == 10
    supplements = {item["motivation"] for item in written["items"] if "textGranularity" in item}
    assert supplements == {"supplementing"}


def test_a_canvas_of_another_size():
    written = annotation_page(letter_page(), Canvas(CANVAS, 1600, 1200))
    assert of_granularity(written, "word")[0] == ("Liebe", f"{CANVAS}#xywh=100,100,200,80")


def test_without_a_canvas_the_target_is_the_image():
    book = replace(letter_page(), image="a book.pdf")
    assert of_granularity(annotation_page(letter_page()), "line")[2][1] == "letter.jpg#xywh=560,400,160,40"
    assert of_granularity(annotation_page(book, number=7), "line")[2][1] == "a%20book.pdf#page=7&xywh=560,400,160,40"


def test_a_line_without_a_place_is_on_the_whole_canvas():
    line = TextLine("l", transcription=Transcription("somewhere"))
    written = annotation_page(Page("a.jpg", 8, 6, (Region("r", (line, TextLine("unread"))),)), Canvas(CANVAS))
    assert of_granularity(written, "line") == [("somewhere", CANVAS)] and len(written["items"]) == 1


def test_doubts_are_comments_and_no_text():
    page = letter_page()
    odd = replace(page.lines[2].transcription, flags=(PageFlag("blank", "there is no ink"),))
    written = annotation_page(with_texts(page, {"m1": odd}))
    comments = [item for item in written["items"] if item["motivation"] == "commenting"]
    assert [comment["body"]["value"] for comment in comments] == [
        "doubtful, confidence 90%",
        "blank: there is no ink",
    ]
    assert comments[1]["target"] == "letter.jpg#xywh=560,400,160,40"


def test_every_id_is_unique_over_pages_and_the_same_each_time():
    pages = [annotation_page(letter_page(), Canvas(f"{CANVAS}{number}")) for number in (1, 2, 1)]
    first, second, again = ([page["id"], *(item["id"] for item in page["items"])] for page in pages)
    assert len({*first, *second}) == 2 * len(first) and first == again
    assert all(id.startswith("urn:uuid:") for id in first)
