"""The page that `--format html` writes, in a real browser."""

from page_examples import document_of, letter_page, with_texts

from drethtr.documents import FORMATS, PageWord, Transcription


def test_the_slider_takes_shades_away_and_a_line_is_found_on_the_scan(open_tab, tmp_path):
    words = (PageWord("likely", 0.6), PageWord("unlikely", 0.4), PageWord("guess", 0.1))
    text = Transcription("likely unlikely guess", 0.4, words)
    (tmp_path / "page.html").write_bytes(FORMATS["html"].write(document_of(with_texts(letter_page(), {"l1": text}))))
    tab = open_tab((tmp_path / "page.html").as_uri())

    def shaded():
        clear = "rgba(0, 0, 0, 0)"
        script = "(word, clear) => getComputedStyle(word).backgroundColor !== clear"
        return [
            word for word in ("likely", "unlikely", "guess") if tab.locator(f".text .{word}").evaluate(script, clear)
        ]

    assert shaded() == ["likely", "unlikely", "guess"] and tab.locator("output").inner_text() == "90 %"
    tab.locator("input").fill("0.5")
    assert shaded() == ["unlikely", "guess"] and tab.locator("output").inner_text() == "50 %"
    tab.locator(".text .guess").hover()
    assert tab.locator(".scan .on").get_attribute("data-line") == "0"
