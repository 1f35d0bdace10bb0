// Characters that the keyboard lacks: those of this folder first, then the others the model knows.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { type } from "./caret.js";

// A mark that stands on other characters is shown on a circle.
const onCircle = (character) => (/^\p{M}/u.test(character) ? `◌${character}` : character);

export function Palette({ close, back }) {
  const [known, setKnown] = useState({ used: [], model: [] });
  const list = useRef();
  useEffect(() => {
    api.characters().then(setKnown, () => {});
  }, []);
  const keys = (event) => {
    const buttons = [...list.current.querySelectorAll("button")];
    const place = buttons.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) buttons.at((place + step) % buttons.length).focus();
    else if (event.key === "Escape") back();
    else return;
    event.preventDefault();
  };
  const insert = (character) => {
    back();
    type(character);
  };
  const shown = (characters) =>
    characters.map(
      (character) => html`<button type="button" aria-label=${`Insert ${character}`}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => insert(character)}>${onCircle(character)}</button>`,
    );
  return html`
    <div class="palette" role="toolbar" aria-label="Special characters" ref=${list} onKeyDown=${keys}>
      <div class="characters">
        ${shown(known.used)}${known.used.length > 0 && known.model.length > 0 && html`<i />`}${shown(known.model)}
      </div>
      <button type="button" title="Alt+C" onClick=${close}>Hide</button>
    </div>`;
}
