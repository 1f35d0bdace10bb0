// One line: its straightened strip and its text.

import { html } from "../html.js";
import { Dots } from "../people.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { Alternatives } from "./alternatives.js";
import { caretIn, show } from "./caret.js";
import { Conflict } from "./conflict.js";
import { clear, gradeOf, paint } from "./highlights.js";
import { boxAt, boxesFound, boxOfLine, onStrip, placesFound } from "./places.js";
import { tagsIn } from "./tags.js";
import { Theirs } from "./theirs.js";
import { doubtsOf, wordsOf } from "./words.js";

const MARKS = { unread: "", read: "", corrected: "●", confirmed: "✓" };
const SAID = {
  unread: "not read yet",
  read: "read by the machine",
  corrected: "corrected",
  confirmed: "confirmed",
};

export function doubtsIn(entry, threshold) {
  return entry.line.status === "confirmed" ? [] : doubtsOf(entry.text, entry.line.words, threshold);
}

export function Line({
  page,
  entry,
  number,
  store,
  threshold,
  room,
  comparison,
  hits,
  isActive,
  caret,
  choice,
  entered,
  isResting,
  people,
  hasPicture,
  isReadOnly,
  on,
}) {
  const { line, state } = entry;
  const element = useRef();
  const row = useRef();

  const repaint = () =>
    paint(element.current, [
      ...doubtsIn(entry, threshold).map(({ start, end, confidence }) => [gradeOf(confidence, threshold), start, end]),
      ...(comparison?.differences(entry) ?? []).map(({ start, end }) => ["differing", start, end]),
      ...tagsIn(entry).map(({ from, to }) => ["tagged", from, to]),
      ...placesFound(hits, entry).map(({ start, end }) => ["found", start, end]),
    ]);
  useLayoutEffect(() => {
    // Spaces at the end are not saved, but stay where somebody may go on typing.
    const { textContent } = element.current;
    if (textContent !== entry.text && textContent.trimEnd() !== entry.text) show(element.current, entry.text);
    repaint();
    return () => clear(element.current);
  }, [entry.text, line, threshold, comparison, comparison?.kept.size, hits]);

  useEffect(() => {
    if (isActive) row.current.scrollIntoView({ block: "nearest" });
  }, [isActive]);

  const input = (event) => {
    if (!event.isComposing) flatten(element.current);
    store.type(line.id, element.current.textContent);
    repaint();
    on.caret(line.id, caretIn(element.current));
  };
  // Of themselves, alternatives cover neither a page that was just opened nor what another text says.
  const offered = isResting || comparison?.differences(entry).length ? [] : doubtsIn(entry, threshold);
  const word = isActive && caret !== null && !isReadOnly ? wordToChoose(entry, caret, offered, choice) : null;
  // Chromium takes back letter by letter what was typed while elements were removed: closed alternatives are hidden.
  const lastWord = useRef(null);
  if (word || !isActive) lastWord.current = word;
  return html`
    <li class="line" ref=${row} data-line=${line.id} data-status=${line.status} data-state=${state}
        aria-current=${isActive ? "true" : null}>
      <span class="number"><span aria-hidden="true">${number}</span><${Dots} people=${people} /></span>
      <div class="writing">
        ${line.strip && hasPicture && html`<${Strip} entry=${entry} hits=${hits} caret=${isActive ? caret : null} room=${room} onPlace=${on.strip} />`}
        <div class="text" ref=${element} contenteditable=${isReadOnly ? "false" : "plaintext-only"} role="textbox" aria-readonly=${isReadOnly} spellcheck="false"
          autocapitalize="off" dir="auto" tabindex="0"
          aria-label=${`Line ${number}, ${SAID[line.status]}`} data-earlier=${line.earlier || null}
          onInput=${input} onFocus=${() => on.focus(line.id)} onBlur=${() => store.save(line.id)}
          onKeyDown=${(event) => on.key(event, line.id)} onPaste=${(event) => paste(event, (texts) => on.paste(line.id, texts))} onDrop=${(event) => event.preventDefault()} />
        ${comparison && html`<${Theirs} entry=${entry} comparison=${comparison} />`}
        ${state === "conflict" && html`<${Conflict} entry=${entry} settle=${(isMine) => store.settle(line.id, isMine)} />`}
        ${
          lastWord.current &&
          html`<${Alternatives} page=${page} entry=${entry} word=${lastWord.current} isOpen=${word !== null} element=${element} entered=${choice?.start === lastWord.current.start ? entered : null}
          back=${on.back} close=${on.unchoose} register=${on.alternatives} />`
        }
      </div>
      ${isReadOnly ? html`<span class="mark" aria-hidden="true" title=${SAID[line.status]}>${MARKS[line.status]}</span>` : html`<${Ring} line=${line} number=${number} confirm=${on.confirm} />`}
    </li>`;
}

// Confirms the line with one click, or takes that back. Ctrl+Enter does so from the text, so Tab goes on to the next one.
function Ring({ line, number, confirm }) {
  const isConfirmed = line.status === "confirmed";
  return html`<button type="button" class="mark ring" tabindex="-1" aria-pressed=${isConfirmed} aria-label=${`Confirm line ${number}`}
    title=${`${SAID[line.status]}; ${isConfirmed ? "undo confirmation" : "confirm"} (Ctrl+Enter)`}
    onMouseDown=${(event) => event.preventDefault()} onClick=${() => confirm(line.id)}>${MARKS[line.status]}</button>`;
}

// The word at the caret, if it is one of those `offered` or its alternatives were asked for, unless they were closed.
function wordToChoose(entry, caret, offered, choice) {
  const isHere = ({ start, end }) => start <= caret && caret <= end;
  const word = wordsOf(entry.text).find(isHere);
  if (!word || !entry.line.strip) return null;
  if (choice?.line === entry.line.id && choice.start === word.start) return choice.isOpen ? word : null;
  return offered.find(isHere) ?? null;
}

// A line stays one line, whatever is pasted; several lines may go into several.
function paste(event, distribute) {
  event.preventDefault();
  const text = event.clipboardData.getData("text/plain");
  const several = text
    .split(/[\r\n]+/u)
    .map((line) => line.trim())
    .filter(Boolean);
  if (several.length > 1 && distribute(several)) return;
  document.execCommand("insertText", false, text.replace(/\s+/gu, " "));
}

// Input methods insert line breaks as elements; the caret stays in its piece of the text.
function flatten(element) {
  if (!element.firstElementChild) return;
  const { focusNode, focusOffset } = getSelection();
  for (let child = element.firstElementChild; child; child = element.firstElementChild) {
    const isBreak = child.previousSibling && (child.nextSibling || child.tagName !== "BR");
    child.replaceWith(isBreak ? " " : "", ...child.childNodes);
  }
  if (element.contains(focusNode)) getSelection().collapse(focusNode, focusOffset);
}

const LEAST = 40; // px; writing that is less high is tiring to read
const MOST = 56;

// The straightened line. One that is too long to be high enough in the given room is broken at gaps between its words.
function Strip({ entry, hits, caret, room, onPlace }) {
  const { line } = entry;
  const [shape, setShape] = useState(aspectOf(line)); // width by height
  const parts = brokenAt(line, Math.max(1, (shape * LEAST) / Math.max(room, 1)));
  const widest = Math.max(...parts.map(([from, to]) => to - from));
  const height = Math.min(MOST, room / (shape * widest));
  const box = caret === null ? null : boxAt(line, entry.text, caret);
  const marks = boxesFound(hits, line).map((found) => ["strip-mark found", ...onStrip(line, found)]);
  if (box) marks.push(["strip-mark", ...onStrip(line, box)]);
  const load = ({ target }) => setShape(target.naturalWidth / target.naturalHeight);
  const hide = ({ target }) => target.style.setProperty("visibility", "hidden"); // the page says why there is no picture
  const frame = ([from, to]) => {
    const whole = shape * height;
    const share = (place) => `${(100 * (place - from)) / (to - from)}%`;
    const click = (event) => {
      const area = event.currentTarget.getBoundingClientRect();
      onPlace(line.id, from + ((event.clientX - area.left) / area.width) * (to - from));
    };
    const mark = ([kind, left, right]) => {
      const [begin, end] = [Math.max(left, from), Math.min(right, to)];
      return (
        end > begin &&
        html`<i class=${kind} style=${{ left: share(begin), width: `${(100 * (end - begin)) / (to - from)}%` }} />`
      );
    };
    return html`<span class="strip-frame" style=${{ width: `${whole * (to - from)}px`, height: `${height}px` }} onClick=${click}>
      <img src=${line.strip} alt="" loading="lazy" draggable=${false} onLoad=${load} onError=${hide}
        style=${{ width: `${whole}px`, marginLeft: `${-whole * from}px` }} />
      ${marks.map(mark)}
    </span>`;
  };
  return html`<div class="strip">${parts.map(frame)}</div>`;
}

// About how much wider than high the picture of a line will be, from its outline.
function aspectOf(line) {
  const [left, top, right, bottom] = boxOfLine(line);
  return Math.max(1, (right - left) / Math.max(1, bottom - top));
}

// The shares of a line's width that stand below one another, when none may be wider than one part of `most`.
function brokenAt(line, most) {
  const places = line.words.map(({ box }) => box && onStrip(line, box)).filter(Boolean);
  const gaps = places.slice(1).map(([left], place) => (places[place][1] + left) / 2);
  const parts = [];
  for (let from = 0; from < 1; ) {
    const furthest = from + 1 / most;
    const to = furthest >= 1 ? 1 : (gaps.findLast((gap) => gap > from && gap <= furthest) ?? furthest);
    parts.push([from, to]);
    from = to;
  }
  return parts;
}
