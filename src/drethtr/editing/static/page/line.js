// One line: its straightened strip, its text, and what may be done with it while the caret is there.

import * as api from "../api.js";
import { percent } from "../format.js";
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { caretIn, replace } from "./caret.js";
import { Conflict } from "./conflict.js";
import { clear, paint } from "./highlights.js";
import { boxAt, onStrip } from "./places.js";
import { Theirs } from "./theirs.js";
import { differencesOf, doubtsOf } from "./words.js";

// Flags that nearly every line in an unknown hand has; the page says so once.
const OF_THE_HAND = ["unlike-training", "disagreement"];

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

export function Line({ page, isHandKnown, entry, number, store, threshold, comparison, afresh, isActive, caret, on }) {
  const { line, state } = entry;
  const element = useRef();
  const row = useRef();

  const repaint = () =>
    paint(element.current, doubtsIn(entry, threshold), threshold, comparison?.differences(entry) ?? []);
  useLayoutEffect(() => {
    if (element.current.textContent !== entry.text) element.current.textContent = entry.text;
    repaint();
    return () => clear(element.current);
  }, [entry.text, line, threshold, comparison, comparison?.kept.size]);

  useEffect(() => {
    if (isActive) row.current.scrollIntoView({ block: "nearest" });
  }, [isActive]);

  const input = () => {
    store.type(line.id, element.current.textContent);
    repaint();
    on.caret(line.id, caretIn(element.current));
  };
  const isLong = line.words.length >= 5; // to retype fewer words saves nothing
  const isAfresh = line.status === "read" && isLong && line.expected_wer !== null && line.expected_wer >= afresh;
  return html`
    <li class="line" ref=${row} data-line=${line.id} data-status=${line.status} data-state=${state}
        aria-current=${isActive ? "true" : null}>
      <span class="number" aria-hidden="true">${number}</span>
      <div class="writing">
        ${line.strip && html`<${Strip} entry=${entry} caret=${isActive ? caret : null} onPlace=${on.strip} />`}
        <div class="text" ref=${element} contenteditable="plaintext-only" role="textbox" spellcheck="false"
          autocapitalize="off" dir="auto" tabindex="0"
          aria-label=${`Line ${number}, ${SAID[line.status]}`}
          onInput=${input} onFocus=${() => on.focus(line.id)} onBlur=${() => store.save(line.id)}
          onKeyDown=${(event) => on.key(event, line.id)} onPaste=${paste} onDrop=${(event) => event.preventDefault()} />
        ${comparison && html`<${Theirs} entry=${entry} comparison=${comparison} isActive=${isActive} on=${on} />`}
        ${state === "conflict" && html`<${Conflict} entry=${entry} settle=${(isMine) => store.settle(line.id, isMine)} />`}
        ${isActive && html`<${Actions} page=${page} isHandKnown=${isHandKnown} entry=${entry} element=${element} isAfresh=${isAfresh} on=${on} />`}
      </div>
      <span class="mark" aria-hidden="true" title=${SAID[line.status]}>${MARKS[line.status]}</span>
    </li>`;
}

// A line stays one line, whatever is pasted.
function paste(event) {
  event.preventDefault();
  document.execCommand("insertText", false, event.clipboardData.getData("text/plain").replace(/\s+/gu, " "));
}

function Strip({ entry, caret, onPlace }) {
  const box = caret === null ? null : boxAt(entry.line, entry.text, caret);
  const [left, right] = box ? onStrip(entry.line, box) : [0, 0];
  const click = (event) => {
    const frame = event.currentTarget.getBoundingClientRect();
    onPlace(entry.line.id, (event.clientX - frame.left) / frame.width);
  };
  return html`
    <div class="strip"><span class="strip-frame" onClick=${click}>
      <img src=${entry.line.strip} alt="" loading="lazy" draggable=${false} />
      ${box && html`<i class="strip-mark" style=${{ left: `${100 * left}%`, width: `${100 * (right - left)}%` }} />`}
    </span></div>`;
}

function Actions({ page, isHandKnown, entry, element, isAfresh, on }) {
  const { line } = entry;
  const [others, setOthers] = useState([]);
  useEffect(() => {
    setOthers([]);
    if (line.status !== "read") return undefined;
    let isWanted = true;
    const timer = setTimeout(() => {
      api.alternatives(page, line.id).then(
        (answer) => isWanted && setOthers(answer.alternatives.slice(0, 9)),
        () => {}, // They are a help, not a need: without them the line is corrected by hand.
      );
    }, 350);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [line.id, line.revision]);
  useEffect(() => {
    on.alternatives(line.id, (place) => others[place] && replace(element.current, others[place].text));
  }, [others]);
  const keep = (event) => event.preventDefault(); // the caret stays where it is
  const flags = line.flags?.filter(({ kind }) => isHandKnown || !OF_THE_HAND.includes(kind));
  return html`
    <div class="actions" onMouseDown=${keep}>
      ${
        isAfresh &&
        html`<p class="hint">About ${percent(line.expected_wer)} of the words are probably wrong.${" "}
        <button type="button" class="link" onClick=${() => on.afresh(line.id)}>Retype this line</button> <kbd>Alt+0</kbd></p>`
      }
      ${flags?.map(({ reason }) => html`<p class="hint flag">${reason}</p>`)}
      ${
        others.length > 0 &&
        html`<ol class="alternatives" aria-label="Other readings">
        ${others.map(
          (
            { text },
            place,
          ) => html`<li><button type="button" title=${text} onClick=${() => replace(element.current, text)}>
            <kbd>Alt+${place + 1}</kbd> <span>${changes(entry.text, text)}</span></button></li>`,
        )}</ol>`
      }
      <div class="buttons">
        <button type="button" onClick=${() => on.confirm(line.id)}>
          ${line.status === "confirmed" ? "Undo confirmation" : html`Confirm <kbd>Ctrl+Enter</kbd>`}</button>
        ${line.status !== "read" && html`<button type="button" onClick=${() => on.machine(line.id)}>Read again</button>`}
        <button type="button" onClick=${() => on.history(line.id)}>History</button>
      </div>
    </div>`;
}

// What another reading changes in the text: its words, or those that it leaves out.
function changes(text, other) {
  const parts = differencesOf(text, other).map((one) => (one.theirs ? one.theirs : html`<del>${one.text}</del>`));
  return parts.flatMap((part, place) => (place ? [" … ", part] : [part]));
}
