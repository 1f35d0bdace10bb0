// Other readings of the word at the caret: its ink and at most four texts below the word, over the lines that follow,
// so that nothing moves.

import * as api from "../api.js";
import { percent } from "../format.js";
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { select, type } from "./caret.js";
import { rangeOf } from "./highlights.js";
import { keyName } from "./keys.js";
import { boxAt, onStrip } from "./places.js";
import { Toolbar } from "./toolbar.js";
import { codePoints } from "./words.js";

const PAUSE = 150; // ms that the caret stays in a word before its alternatives are asked for
const INK = 44; // px

// `word` is {start, end, text} in the text of the entry; `register` is given what takes an alternative by its number.
export function Alternatives({ page, entry, word, isOpen, element, entered, back, close, register }) {
  const { line } = entry;
  const [others, setOthers] = useState(null);
  const [why, setWhy] = useState(null); // there are none
  const frame = useRef();
  useEffect(() => {
    setOthers(null);
    const left = new AbortController();
    const take = (found, reason) => {
      if (left.signal.aborted) return;
      setOthers(found);
      setWhy(reason);
    };
    const timer = setTimeout(() => {
      const [start, end] = [codePoints(entry.text, word.start), codePoints(entry.text, word.end)];
      api.alternatives(page, line.id, { text: entry.text, start, end }, left.signal).then(
        (answer) => take(answer.alternatives, "No other reading"),
        ({ message }) => take([], message), // They only help: without them, the word is corrected by hand.
      );
    }, PAUSE);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [line.id, word.start, word.text]);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const around = frame.current.parentElement.getBoundingClientRect();
    const { left, bottom } = rangeOf(element.current, word.start, word.end).getBoundingClientRect();
    const room = around.width - frame.current.offsetWidth;
    frame.current.style.left = `${Math.max(0, Math.min(left - around.left, room))}px`;
    frame.current.style.top = `${bottom - around.top + 4}px`;
  });
  // Not before they are known: the click that put the caret into the word is over by then.
  useEffect(() => {
    if (isOpen && others) frame.current.scrollIntoView({ block: "nearest" });
  }, [others, isOpen]);
  const replace = (text) => {
    select(element.current, word.start, word.end);
    type(text);
  };
  useEffect(() => {
    register(line.id, (number) => isOpen && others?.[number] && replace(others[number].text));
    return () => register(null, null);
  }, [others, isOpen]);
  return html`<div class="other-words" ref=${frame} hidden=${!isOpen} onMouseDown=${(event) => event.preventDefault()}>
    <${Ink} entry=${entry} word=${word} />
    ${word.confidence !== undefined && html`<span class="count sure" title="The probability that the word is right">${percent(word.confidence)} sure</span>`}
    <${Toolbar} label=${`Instead of ${word.text}`} kind="choices" entered=${others?.length ? entered : null} back=${back}>
      ${others === null && [1, 2, 3].map(() => html`<i class="skeleton" />`)}
      ${others?.length === 0 && html`<p class="hint">${why}</p>`}
      ${others?.map(
        ({ text, probability }, place) => html`<button type="button" onClick=${() => replace(text)}>
          <kbd>${keyName(`Alt+${place + 1}`)}</kbd><span class="word">${text}</span><span class="count">${probability < 0.01 ? "< 1" : Math.round(100 * probability)} %</span></button>`,
      )}
      <button type="button" class="close" aria-label="Close" title="Escape" onClick=${close}>×</button>
    <//>
  </div>`;
}

// The word cut out of the picture of its line, larger than there.
function Ink({ entry, word }) {
  const [size, setSize] = useState(null);
  const box = boxAt(entry.line, entry.text, word.start + 1);
  if (!entry.line.strip || !box) return null;
  const [left, right] = onStrip(entry.line, box);
  const scale = size ? (1.4 * INK) / size[1] : 0;
  const width = size ? Math.min(320, Math.max(INK, scale * size[0] * (right - left) + 16)) : INK;
  const shift = size ? width / 2 - scale * size[0] * ((left + right) / 2) : 0;
  const load = ({ target }) => setSize([target.naturalWidth, target.naturalHeight]);
  return html`<span class="ink" style=${{ width: `${width}px` }}>
    <img src=${entry.line.strip} alt="" onLoad=${load} style=${{ marginLeft: `${shift}px` }} /></span>`;
}
