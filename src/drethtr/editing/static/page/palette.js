// Characters that the keyboard lacks: those of the page's language first, then others of this folder, then the rest.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { type } from "./caret.js";
import { Toolbar } from "./toolbar.js";

// A mark that stands on other characters is shown on a circle.
const onCircle = (character) => (/^\p{M}/u.test(character) ? `◌${character}` : character);

export function Palette({ page, entered, close, back }) {
  const [groups, setGroups] = useState([]);
  useEffect(() => {
    api.characters(page).then(
      ({ language, used, others }) => setGroups([language, used, others].filter(({ length }) => length)),
      () => {}, // They can be typed or pasted as well.
    );
  }, [page]);
  const insert = (character) => {
    back();
    type(character);
  };
  const shown = (characters) =>
    characters.map(
      (character) => html`<button type="button" aria-label=${`Insert ${character}`}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => insert(character)}>${onCircle(character)}</button>`,
    );
  if (!groups.length) return null;
  return html`
    <${Toolbar} label="Special characters" kind="palette" entered=${entered} back=${back}>
      <div class="characters">${groups.map((group, place) => [place > 0 && html`<i />`, shown(group)])}</div>
      <button type="button" title="Alt+C" onClick=${close}>Hide</button>
    <//>`;
}
