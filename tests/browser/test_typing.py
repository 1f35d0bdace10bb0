"""What a person types, confirms, takes back and finds again."""

import json
import re
from time import sleep

from browser_steps import enter, served, text_of, texts, wait_until_saved
from edited_folders import put_page
from made_pages import TEXTS
from waiting import until

from drethtr.documents.formats import FORMATS
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review
from drethtr.editing.notes import user


def lines(folder, stem="a"):
    return [
        (line.transcription.text, line.transcription.review) for line in read_page(folder / f"{stem}.page.xml").lines
    ]


def arrive(tab):
    """Let somebody else come to the page, for which the screen is drawn again."""
    site, _, page = tab.url.partition("/p/")
    tab.request.post(f"{site}/api/here", data={"id": "2", "who": "Mary", "page": page, "line": "l3"})
    tab.locator(".bar .dot").wait_for()


def focused(tab):
    return tab.evaluate("[...document.querySelectorAll('.line .text')].indexOf(document.activeElement) + 1")


def test_enter_saves_a_line_and_goes_on(page, folder):
    page.keyboard.press("End")
    page.keyboard.type(" indeed")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert lines(folder)[0] == (f"{TEXTS[0]} indeed", Review.CORRECTED) and focused(page) == 2
    page.keyboard.press("Shift+Enter")
    assert focused(page) == 1


def test_enter_on_the_last_line_goes_to_the_next_page_when_pressed_again(page, folder):
    text_of(page, 4).click()
    page.keyboard.press("Control+Enter")
    page.get_by_text("Enter again goes to the next page.").wait_for()
    page.keyboard.press("Enter")
    page.locator(".where", has_text="b.png").wait_for()
    page.locator(".line[aria-current] .text:focus").wait_for()
    assert focused(page) == 1
    until(lambda: lines(folder)[3] == (TEXTS[3], Review.CONFIRMED))


def test_control_enter_confirms_once_and_the_button_takes_it_back(page, folder):
    for key in ("Control", "Enter", "Enter"):  # held until it repeats
        page.keyboard.down(key)
    for key in ("Enter", "Control"):
        page.keyboard.up(key)
    wait_until_saved(page)
    assert lines(folder)[0] == (TEXTS[0], Review.CONFIRMED) and focused(page) == 2
    page.get_by_text("1 of 4 confirmed").wait_for()
    page.get_by_role("button", name="Learn (1 of 25)").wait_for()
    text_of(page, 1).click()
    page.get_by_role("button", name="Undo confirmation").click()
    page.get_by_text("0 of 4 confirmed").wait_for()


def test_a_line_that_is_to_be_read_is_not_confirmed_as_empty(folder, tiny_path, open_tab):
    """But one that is left empty on purpose is."""
    path = folder / "a.page.xml"
    first, end, rest = path.read_text(encoding="utf-8").partition("</TextLine>")
    first = re.sub(r"<Word .*?</Word>|<TextEquiv.*?</TextEquiv>", "", first, flags=re.DOTALL)
    path.write_text(first + end + rest, encoding="utf-8")
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        waits = [True]  # as until the page is read
        tab.route(
            "**/api/pages/*",
            lambda route: route.fulfill(json=route.fetch().json() | ({"status": "unread"} if waits else {})),
        )
        enter(tab, "a.png")
        tab.keyboard.press("Control+Enter")
        tab.get_by_text("This line is not read yet").wait_for()
        assert focused(tab) == 1
        tab.get_by_role("button", name="Confirm line 1").click()
        tab.get_by_text("0 of 4 confirmed").wait_for()
        waits.clear()
        tab.reload()
        tab.locator(".text:focus").wait_for()
        tab.keyboard.press("Control+Enter")
        tab.get_by_text("1 of 4 confirmed").wait_for()
    assert lines(folder)[0] == ("", Review.CONFIRMED)


def test_a_click_on_its_ring_confirms_a_line_and_takes_that_back(page, folder):
    ring = page.get_by_role("button", name="Confirm line 3")
    ring.click()
    page.get_by_text("1 of 4 confirmed").wait_for()
    assert [review for _, review in lines(folder)] == [None, None, Review.CONFIRMED, None]
    assert ring.get_attribute("aria-pressed") == "true"
    page.locator(".line:first-child .text:focus").wait_for()
    ring.click()
    page.get_by_text("0 of 4 confirmed").wait_for()
    assert lines(folder)[2] == (TEXTS[2], Review.CORRECTED)


def test_control_enter_confirms_from_the_tags(page, folder):
    page.keyboard.press("Alt+g")
    page.keyboard.press("Enter")
    page.locator(".tagging button[aria-pressed=true]", has_text="Person").wait_for()
    page.keyboard.press("Control+Enter")
    page.get_by_text("1 of 4 confirmed").wait_for()
    assert lines(folder)[0] == (TEXTS[0], Review.CONFIRMED) and focused(page) == 2


def test_enter_says_what_an_abbreviation_stands_for(page, folder):
    page.keyboard.press("Alt+g")
    page.get_by_placeholder("what it stands for").fill("Monsieur")
    page.keyboard.press("Enter")
    page.locator(".tag", has_text="Abbreviation: Monsieur").wait_for()
    assert "expansion:Monsieur" in (folder / "a.page.xml").read_text(encoding="utf-8")


def test_undo_is_the_browsers_own_even_after_saving(page, folder):
    page.keyboard.press("End")
    page.keyboard.type("!")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Control+z")
    assert texts(page)[0] == TEXTS[0]
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert lines(folder)[0][0] == TEXTS[0]


def test_what_the_browser_takes_back_in_another_line_is_all_that_is_undone(page, folder):
    page.keyboard.press("End")
    page.keyboard.type("!")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.keyboard.press("Control+z")
    page.locator(".saved[data-state=saving]").wait_for()
    wait_until_saved(page)
    assert texts(page)[0] == lines(folder)[0][0] == TEXTS[0]


def test_a_pause_saves(page, folder):
    page.keyboard.type("Oh ")
    page.locator(".saved[data-state=saving]").wait_for()
    wait_until_saved(page)
    assert lines(folder)[0][0] == f"Oh {TEXTS[0]}"


def test_after_a_pause_behind_a_space_typing_goes_on_there(page, folder):
    page.keyboard.press("End")
    for typed in (" my ", "dear "):
        page.keyboard.type(typed)
        page.locator(".saved[data-state=saving]").wait_for()
        wait_until_saved(page)
        arrive(page)
    page.keyboard.type("friend")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert lines(folder)[0][0] == texts(page)[0] == f"{TEXTS[0]} my dear friend"


def test_a_text_that_is_changed_behind_the_caret_leaves_the_selection_in_its_place(page, folder):
    page.keyboard.type(" ")  # is not saved
    page.keyboard.press("End")
    for typed in ("", "!"):
        page.keyboard.type(typed)
        page.locator(".saved[data-state=saving]").wait_for()
        wait_until_saved(page)
    assert texts(page)[0] == f"{TEXTS[0]}!"
    page.keyboard.press("Shift+ArrowLeft")
    path = folder / "a.page.xml"
    path.write_bytes(path.read_bytes().replace(TEXTS[0].encode(), f"Oh {TEXTS[0]}".encode()))  # by another program
    text_of(page, 1).filter(has_text="Oh ").wait_for()
    page.keyboard.type("?")
    assert texts(page)[0] == f"Oh {TEXTS[0]}?"


def paste(page, text):
    page.evaluate(
        """text => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            const paste = new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true});
            document.activeElement.dispatchEvent(paste);
        }""",
        text,
    )


def test_what_is_pasted_stays_one_line_unless_there_are_empty_ones_for_all_of_it(page):
    paste(page, "one\ntwo\t")
    assert texts(page)[0] == f"one two {TEXTS[0]}"
    for key in ("Alt+0", "ArrowDown", "Alt+0", "ArrowUp"):
        page.keyboard.press(key)
    paste(page, "one\r\n\r\ntwo ")
    page.locator(".line:nth-child(2) .text", has_text="two").wait_for()
    assert texts(page)[:3] == ["one", "two", TEXTS[2]]
    paste(page, "three\nfour\nfive")
    assert texts(page)[1:3] == ["two", TEXTS[2]]


def test_line_breaks_of_input_methods_are_spaces(page):
    page.context.new_cdp_session(page).send("Input.insertText", {"text": "line\nbeta "})
    assert texts(page)[0] == f"line beta {TEXTS[0]}"


def test_f2_selects_one_doubt_after_the_other(tab):
    page = enter(tab, "b.png")
    words = " ".join(TEXTS[:4]).split()

    def selected():
        return page.evaluate("getSelection().toString()")

    page.keyboard.press("F2")
    assert selected() == words[0]
    page.keyboard.press("F2")
    assert selected() == words[1]
    page.keyboard.press("Shift+F2")
    assert selected() == words[0]
    page.keyboard.type("Well")  # over the selected word
    page.keyboard.press("F2")
    assert selected() == words[1] and texts(page)[0].startswith("Well ")


def test_f3_selects_one_word_after_the_other_over_all_lines(page):
    words = " ".join(TEXTS[:4]).split()
    first = len(TEXTS[0].split())
    for word in words[: first + 1]:
        page.keyboard.press("F3")
        assert page.evaluate("getSelection().toString()") == word
    assert focused(page) == 2
    page.keyboard.press("Shift+F3")
    assert page.evaluate("getSelection().toString()") == words[first - 1] and focused(page) == 1
    page.keyboard.type("now")
    assert texts(page)[0] == " ".join([*words[: first - 1], "now"])


def test_doubts_are_painted_where_they_are_after_every_change(tab):
    page = enter(tab, "b.png")
    painted = """() => [...CSS.highlights.values()].flatMap((all) => [...all])
        .map((range) => [range.startContainer.parentElement.ariaLabel, range.startOffset, String(range)])
        .filter(([label]) => label.startsWith("Line 1,")).sort((a, b) => a[1] - b[1]).map(([, , word]) => word)"""
    words = TEXTS[0].split()
    assert page.evaluate(painted) == words
    page.keyboard.press("Home")
    page.keyboard.type("so ")
    assert page.evaluate(painted) == words
    page.keyboard.press("Control+z")
    assert page.evaluate(painted) == words


def test_the_caret_shows_its_place_on_the_scan_and_a_click_there_puts_it_back(page):
    page.keyboard.press("End")
    last = page.locator(".place").bounding_box()
    page.keyboard.press("Home")
    page.wait_for_function("last => document.querySelector('.place').getBoundingClientRect().x < last", arg=last["x"])
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished)).then(() => null)")
    page.mouse.click(last["x"] + last["width"] - 2, last["y"] + last["height"] / 2)
    offset = page.evaluate("getSelection().focusOffset")
    assert focused(page) == 1 and offset > len(TEXTS[0]) - len(TEXTS[0].split()[-1])


def test_zoom_and_place_stay_from_page_to_page(page):
    def scale():
        return page.evaluate("new DOMMatrix(getComputedStyle(document.querySelector('.sheet')).transform).a")

    before = scale()
    page.get_by_role("button", name="Zoom in").click(click_count=3)
    zoomed = scale()
    page.keyboard.press("Alt+PageDown")
    page.get_by_text("b.png").first.wait_for()
    page.locator(".line").first.wait_for()
    assert zoomed > 1.5 * before and abs(scale() - zoomed) < 1e-6


def test_a_key_zooms_the_scan_to_the_line_and_back(page):
    def share():
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        line, frame = page.locator(".outline[data-active]").bounding_box(), page.locator(".frame").bounding_box()
        return line["width"] / frame["width"]

    before = share()
    page.keyboard.press("F9")
    assert share() > 0.9 > before
    page.keyboard.press("F9")
    assert abs(share() - before) < 0.01


def test_without_pictures_of_its_lines_a_page_is_read_against_the_scan(page):
    def width():
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        widths = page.locator(".outline").evaluate_all("all => all.map((one) => one.getBoundingClientRect().width)")
        return max(widths) / page.locator(".frame").bounding_box()["width"]

    before = width()
    page.keyboard.press("Alt+p")
    page.locator(".strip").first.wait_for(state="detached")
    assert width() > 0.9 > before and page.locator(".line").first.bounding_box()["height"] < 40
    assert page.evaluate("document.activeElement.closest('.line').dataset.line") == "l0"
    frame = page.locator(".frame").bounding_box()
    for _ in range(3):
        page.keyboard.press("Enter")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        line = page.locator(".outline[data-active]").bounding_box()
        assert line["x"] >= frame["x"] and line["x"] + line["width"] <= frame["x"] + frame["width"]
    for go in (page.reload, lambda: page.keyboard.press("Alt+PageDown")):
        go()
        page.locator(".line[data-line=l3]").wait_for()
        page.locator(".text:focus").wait_for()
        assert width() > 0.9 and not page.locator(".strip").count()
    page.get_by_role("button", name="Proofread").click()
    page.locator(".strip").first.wait_for()
    assert abs(width() - before) < 0.01


def test_the_layout_keeps_a_zoom_of_its_own(page):
    def share():
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page.locator(".turned").bounding_box()["width"] / page.locator(".frame").bounding_box()["width"]

    page.keyboard.press("F9")
    assert share() > 1.1
    page.keyboard.press("Alt+l")
    page.locator(".badge").first.wait_for()
    assert share() < 1


def test_search_leads_to_the_word_in_the_text_and_on_the_scan(tab):
    first, *_, last = TEXTS[2].split()
    places = []
    for word in (first, last):
        tab.get_by_role("searchbox").fill(word)
        tab.locator(".hits a", has_text=TEXTS[2]).first.click()
        tab.locator(".line[aria-current] .text", has_text=TEXTS[2]).wait_for()
        assert tab.evaluate("getSelection().toString()") == word
        places.append(tab.locator(".place").bounding_box()["x"])
        tab.go_back()
    assert places[0] < places[1]


def test_the_export_dialog_explains_every_format(page):
    page.get_by_role("button", name="Export").click()
    choices = page.locator("label.choice")
    choices.first.wait_for()
    told = {
        choice.locator("input").get_attribute("value"): choice.locator("b, .hint").all_text_contents()
        for choice in choices.all()
    }
    assert told.keys() == FORMATS.keys() and choices.count() == len(FORMATS)
    assert all(len(words) == 2 and all(words) for words in told.values())


def test_export_downloads_the_text(page):
    page.get_by_role("button", name="Export").click()
    page.locator("summary", has_text="Working files").click()
    page.get_by_label("Text plain").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "a.txt"
    assert download.value.path().read_text(encoding="utf-8").split() == " ".join(TEXTS[:4]).split()


def test_what_an_edition_is_is_typed_field_by_field_and_kept_in_the_folder(page, folder):
    page.get_by_role("button", name="Export").click()
    with page.expect_response(lambda response: "format=tei" in (response.request.post_data or "")) as asked:
        page.get_by_label("TEI").click()
    previews = []  # asked for once, whatever is typed
    page.on("request", lambda request: previews.append(request.url) if "preview" in request.url else None)
    page.get_by_label("Title").click()
    page.keyboard.type("Letters")
    page.request.put(f"{page.url.partition('/p/')[0]}/api/edition", data={"language": "la"})  # by somebody else
    arrive(page)
    for text in ("Anne Grey", "MS 17"):
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    page.keyboard.press("Tab")
    kept = folder / "drethtr.edition.json"
    until(lambda: json.loads(kept.read_text(encoding="utf-8"))["shelf_mark"])
    assert asked.value.ok and not previews
    about = json.loads(kept.read_text(encoding="utf-8"))
    typed = [about[key] for key in ("title", "author", "shelf_mark", "language")]
    assert typed == ["Letters", "Anne Grey", "MS 17", "la"]


def test_the_field_typed_last_is_saved_before_an_edition_is_downloaded(page):
    page.route("**/api/edition", lambda route: (sleep(0.3), route.continue_()))
    page.get_by_role("button", name="Export").click()
    page.get_by_label("TEI").check()
    page.get_by_label("Title").fill("Letters")
    page.get_by_label("Author").fill("Anne Grey")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    written = download.value.path().read_text(encoding="utf-8")
    assert "<title>Letters</title>" in written and "<author>Anne Grey</author>" in written


def test_an_export_that_fails_says_so_in_the_dialog(page, folder):
    page.get_by_role("button", name="Export").click()
    page.get_by_label("PDF, scans with text").check()
    page.locator(".preview img").wait_for()
    scan = (folder / "a.png").read_bytes()
    (folder / "a.png").write_bytes(b"broken")
    page.get_by_role("button", name="Download").click()
    page.locator(".take .flag", has_text="a.png: not an image").wait_for()
    (folder / "a.png").write_bytes(scan)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "a.pdf" and not page.locator(".take .flag").count()


def test_an_edition_that_was_not_saved_is_saved_before_it_is_downloaded(page):
    page.get_by_role("button", name="Export").click()
    page.get_by_label("TEI").check()
    title = page.get_by_label("Title")
    title.wait_for()
    page.route("**/api/edition", lambda route: route.abort())
    title.fill("Letters")
    title.blur()
    page.locator(".take .flag", has_text="The server does not respond").wait_for()
    page.unroute("**/api/edition")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "<title>Letters</title>" in download.value.path().read_text(encoding="utf-8")


def test_a_name_that_is_being_typed_stays_while_others_come(page):
    page.get_by_role("button", name=user(), exact=True).click()
    page.keyboard.type("Ad")
    arrive(page)
    page.keyboard.type("a")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Ada", exact=True).wait_for()


def test_without_a_server_nothing_is_downloaded(page):
    page.route("**/api/preview*", lambda route: route.abort())
    page.get_by_role("button", name="Export").click()
    page.get_by_text("The server does not respond").wait_for()
    assert page.get_by_role("button", name="Download").is_disabled()


def test_keys_work_outside_the_text_but_not_in_a_dialog(tab):
    page = enter(tab, "b.png")
    page.get_by_role("button", name="Export").click()
    page.locator("dialog h2").click()  # the focus is nowhere then
    page.keyboard.press("F2")
    page.get_by_role("radio", name="TEI").check()
    page.get_by_label("Title").fill("Letters")
    page.keyboard.press("Control+z")
    assert page.evaluate("document.activeElement.closest('dialog') !== null") and texts(page) == list(TEXTS[:4])
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export").focus()
    page.keyboard.press("F2")
    page.locator(".text:focus").wait_for()
    assert page.evaluate("getSelection().toString()") == TEXTS[0].split()[0]


def test_an_earlier_text_is_put_back_from_the_history(page, folder):
    page.keyboard.press("End")
    page.keyboard.type(" indeed")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    text_of(page, 1).click()
    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name="Restore").click()
    page.locator("dialog").wait_for(state="detached")
    assert texts(page)[0] == TEXTS[0]
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert lines(folder)[0][0] == TEXTS[0]


def test_an_alternative_changes_the_word_at_the_caret_and_nothing_else(tab):
    page = enter(tab, "b.png")
    page.keyboard.press("End")
    page.keyboard.type(" and more")
    page.keyboard.press("Control+Home")
    page.keyboard.press("F2")
    page.locator(".choices button .word").first.wait_for()
    other = page.locator(".choices button .word").first.inner_text()
    height = page.locator(".lines").evaluate("lines => lines.scrollHeight")
    page.keyboard.press("Alt+1")
    first, *rest = TEXTS[0].split()
    assert texts(page)[0] == " ".join([other, *rest, "and more"]) and other != first
    page.keyboard.press("Control+z")
    assert texts(page)[0] == f"{TEXTS[0]} and more"
    page.keyboard.press("F3")
    page.keyboard.press("Alt+ArrowDown")
    page.locator(".choices button:focus").wait_for()
    page.keyboard.press("Escape")
    page.locator(".text:focus").wait_for()
    assert page.locator(".lines").evaluate("lines => lines.scrollHeight") == height


def test_rows_of_buttons_take_the_keyboard_only_when_asked(tab):
    page = enter(tab, "b.png")
    page.keyboard.press("Alt+ArrowDown")
    page.locator(".choices button:focus").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.locator(f"[aria-label='Instead of {TEXTS[0].split()[-1]}'] .word").first.wait_for()
    assert focused(page) == 1
    page.keyboard.press("Alt+g")
    page.locator(".tagging button:focus").wait_for()
    for number in (4, 1):
        text_of(page, number).click()
        page.locator(".tagging").wait_for(state="detached")
        assert focused(page) == number


def test_nothing_covers_a_page_that_was_just_opened(tab):
    page = enter(tab, "b.png")
    page.wait_for_timeout(500)
    assert page.locator(".other-words").count() == 0
    page.keyboard.press("ArrowRight")
    page.locator(".other-words").wait_for()
    assert page.locator(".other-words .sure").inner_text() == "30\N{NO-BREAK SPACE}% sure"


def test_after_the_last_mark_the_page_says_how_many_errors_are_left(tab):
    page = enter(tab, "b.png")
    text_of(page, 4).click()
    page.keyboard.press("End")
    page.keyboard.press("F2")
    page.get_by_text("No more words to look at on this page; probably less than one wrong word is left.").wait_for()
    page.get_by_text("Looking at 100 % of the words finds about 100 % of the errors").wait_for()


def test_of_texts_without_confidences_the_page_does_not_say_how_many_errors_are_left(folder, tab):
    put_page(folder, "c", confidence=None)
    tab.reload()
    page = enter(tab, "c.png")
    page.get_by_text("no confidences, so the number of wrong words is unknown", exact=True).wait_for()
    page.keyboard.press("Control+Shift+Enter")
    page.get_by_text("probably less than one wrong word is left", exact=True).wait_for()


def test_a_page_is_confirmed_at_once_with_what_was_typed(page, folder):
    page.keyboard.type("Oh ")
    page.keyboard.press("Control+Shift+Enter")
    page.get_by_text("4 of 4 confirmed").wait_for()
    assert lines(folder) == [(f"{'Oh ' * (not place)}{text}", Review.CONFIRMED) for place, text in enumerate(TEXTS[:4])]


def test_keys_that_type_characters_do_nothing_else(site, open_tab):
    """AltGr, as Windows and Linux report it, and Option on a Mac."""
    pressed = """([key, code, held]) => !document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        {key, code, bubbles: true, cancelable: true, ...held}))"""
    page = enter(open_tab(site), "b.png")
    assert page.evaluate(pressed, ["1", "Digit1", {"altKey": True}])
    assert not page.evaluate(pressed, ["[", "Digit1", {"altKey": True, "ctrlKey": True}])
    assert not page.evaluate(pressed, ["@", "KeyL", {"altKey": True, "modifierAltGraph": True}])
    mac = "Object.defineProperty(navigator, 'platform', {value: 'MacIntel'})"
    page = enter(open_tab(site, apart=True, script=mac), "b.png")
    for key, code in (("[", "Digit5"), ("@", "KeyL"), ("ç", "KeyC"), ("º", "Digit0")):
        assert not page.evaluate(pressed, [key, code, {"altKey": True}])
    assert page.evaluate(pressed, ["1", "Digit1", {"ctrlKey": True}])


def test_writing_is_at_least_40_pixels_high_and_long_lines_break_between_words(page):
    def heights():
        return page.locator(".strip-frame").evaluate_all("frames => frames.map((one) => one.offsetHeight)")

    page.locator(".strip img").first.evaluate("image => image.decode()")
    assert len(heights()) == 4 and min(heights()) >= 40
    page.set_viewport_size({"width": 330, "height": 850})
    page.locator(".line:first-child .strip-frame").nth(1).wait_for()
    assert min(heights()) >= 40
