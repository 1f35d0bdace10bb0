// The caret in the text of a line, and changes that the browser's own undo takes back.

import { rangeOf } from "./highlights.js";
import { difference } from "./words.js";

// A line is one text node; a browser may split it while a person types.
function offsetOf(element, container, offset) {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(container, offset);
  return range.toString().length;
}

// The caret's offset in an element, or null if it is elsewhere.
export function caretIn(element) {
  const selection = getSelection();
  if (!selection.rangeCount || !element.contains(selection.focusNode)) return null;
  return offsetOf(element, selection.focusNode, selection.focusOffset);
}

// What is selected in an element, as [start, end], or null if the selection is elsewhere.
export function selectionIn(element) {
  const selection = getSelection();
  if (!selection.rangeCount || !element.contains(selection.focusNode)) return null;
  const range = selection.getRangeAt(0);
  return [
    offsetOf(element, range.startContainer, range.startOffset),
    offsetOf(element, range.endContainer, range.endOffset),
  ];
}

export function select(element, start, end = start) {
  element.normalize();
  element.focus({ preventScroll: true });
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(rangeOf(element, start, end));
}

// `execCommand` is the only way to change text that undo knows of.
export function type(text) {
  if (text) document.execCommand("insertText", false, text);
  else document.execCommand("delete");
}

// Makes the text of an element another one by replacing only what differs.
export function replace(element, text) {
  const { start, end, otherEnd } = difference(element.textContent, text);
  if (start === end && start === otherEnd) return;
  select(element, start, end);
  type(text.slice(start, otherEnd));
}

// Makes the text of an element the one that the server has. What is selected in it stays.
export function show(element, text) {
  const selected = element === document.activeElement ? selectionIn(element) : null;
  const { start, end, otherEnd } = difference(element.textContent, text);
  element.textContent = text;
  const moved = (place) => (place >= end ? place + otherEnd - end : Math.min(place, start));
  if (selected) select(element, ...selected.map(moved));
}

// Whether the caret stands on the first or last visual row of a wrapped text.
export function isAtEdge(element, isUp) {
  const range = getSelection().getRangeAt(0);
  const caret = range.getBoundingClientRect();
  if (!caret.height) return true;
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const row = Number.parseFloat(style.lineHeight);
  return isUp ? caret.top < box.top + row : caret.bottom > box.bottom - row;
}
