// Who works here: asked for once where several people may, and kept in this browser.

import { html } from "../html.js";
import { useRef } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

// `usual` is the name in the history for whoever gives none.
export function Name({ name, usual, set, close }) {
  const input = useRef();
  const end = () => {
    if (input.current) set(input.current.value.trim()); // a removed dialog reports its closing once more
    close();
  };
  return html`<${Dialog} title="Your name" close=${end}>
    <form onSubmit=${(event) => {
      event.preventDefault();
      end();
    }}>
      <p class="hint">It appears in the history beside your changes, and shows others where you are. Without a name, the history shows “${usual}”.</p>
      <p class="field"><label><span class="unseen">Your name</span><input ref=${input} type="text" maxlength="80" autocomplete="name" autofocus defaultValue=${name} placeholder=${usual} /></label>
        <button type="submit" class="main">Save</button></p>
    </form>
  <//>`;
}
