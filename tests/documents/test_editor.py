"""Changes of attributes and elements that leave all other bytes as they are."""

from xml.etree import ElementTree as ET

import pytest

from drethtr.documents.editor import Splicer
from drethtr.documents.markup import apply, parse


def changed(text, name, value):
    """A file with an attribute of its first element in the root changed."""
    data = text.encode()
    markup = parse(data, "x")
    return apply(markup.utf8, [Splicer.of(markup).set_attribute(markup.root.children[0], name, value)]).decode()


@pytest.mark.parametrize(
    ("before", "name", "value", "after"),
    [
        ("<r><l/></r>", "a", "b", '<r><l a="b"/></r>'),
        ("<r><l  /></r>", "a", "b", '<r><l   a="b"/></r>'),
        ("<r><l></l></r>", "a", "b", '<r><l a="b"></l></r>'),
        ("<r><l x='1'/></r>", "a", "<\"'>", "<r><l x='1' a=\"&lt;&quot;&#x27;&gt;\"/></r>"),
        ("<r><l x = '1' a='2'/></r>", "a", "b", "<r><l x = '1' a='b'/></r>"),
        ("<r><l x='1' a=\"2\" y='/>'/></r>", "a", None, "<r><l x='1' y='/>'/></r>"),
        ("<r><l x='1'/></r>", "a", None, "<r><l x='1'/></r>"),
        ("<r><l xa='1'/></r>", "a", "b", "<r><l xa='1' a=\"b\"/></r>"),
    ],
)
def test_an_attribute_is_set_added_or_removed(before, name, value, after):
    assert changed(before, name, value) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<r>\n  <l/>\n  <m/>\n</r>", "<r>\n  <m/>\n</r>"),
        ("<r><l/><m/></r>", "<r><m/></r>"),
        ("<r>text <l/> more</r>", "<r>text more</r>"),
    ],
)
def test_a_removed_element_takes_the_white_space_before_it_along(before, after):
    markup = parse(before.encode(), "x")
    assert apply(markup.utf8, [Splicer.of(markup).remove(markup.root.children[0])]).decode() == after


@pytest.mark.parametrize("note", ["", "<!-- a note -->", "\n  <!-- a note -->"])
def test_a_new_element_is_indented_like_its_neighbors(note):
    before, after = f"<r>{note}\n  <l>\n    <m/>", "\n  </l>\n</r>"
    markup = parse((before + after).encode(), "x")
    [line] = markup.root.children
    edit = Splicer.of(markup).insert(line, line.children[0], [ET.Element("n")])
    assert apply(markup.utf8, [edit]).decode() == f"{before}\n    <n />{after}"
