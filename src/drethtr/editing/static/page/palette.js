// Characters that the keyboard lacks: those of this folder first, then the others the model knows.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { type } from "./caret.js";
import { Toolbar } from "./toolbar.js";

// A mark that stands on other characters is shown on a circle.
const onCircle = (character) => (/^\p{M}/u.test(character) ? `◌${character}` : character);

export function Palette({ entered, close, back }) {
  const [known, setKnown] = useState(null);
  useEffect(() => {
    api.characters().then(setKnown, () => setKnown({ used: [], model: [] }));
  }, []);
  const insert = (character) => {
    back();
    type(character);
  };
  const shown = (characters) =>
    characters.map(
      (character) => html`<button type="button" aria-label=${`Insert ${character}`}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => insert(character)}>${onCircle(character)}</button>`,
    );
  if (!known) return null;
  return html`
    <${Toolbar} label="Special characters" kind="palette" entered=${entered} back=${back}>
      <div class="characters">
        ${shown(known.used)}${known.used.length > 0 && known.model.length > 0 && html`<i />`}${shown(known.model)}
      </div>
      <button type="button" title="Alt+C" onClick=${close}>Hide</button>
    <//>`;
}
