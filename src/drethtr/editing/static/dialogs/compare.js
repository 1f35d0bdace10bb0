// A text to compare a page with: pasted, or a file.

import { useAttempt } from "../attempt.js";
import { html } from "../html.js";
import { compareWith } from "../page/comparison.js";
import { useSetting } from "../settings.js";
import { useRef, useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

const KINDS = ".txt,.md,.xml,.json,.docx";
const CONVENTIONS = {
  spelling: "accents, capitals, long s, u for v, doubled letters",
  abbreviations: "M^r or Monsieur, & or and",
  punctuation: "commas, quotation marks, hyphens",
};

export function Compare({ page, done, close }) {
  const text = useRef();
  const file = useRef();
  const [allowed, allow] = useSetting("allow", []);
  const [isBusy, setBusy] = useState(false);
  const [error, attempt] = useAttempt();
  const toggle = (name) =>
    allow(allowed.includes(name) ? allowed.filter((other) => other !== name) : [...allowed, name]);
  const compare = async (event) => {
    event.preventDefault();
    const [chosen] = file.current.files;
    const given = chosen ? { name: chosen.name, content: chosen } : { name: "pasted.txt", content: text.current.value };
    setBusy(true);
    await attempt(compareWith(page, { ...given, allow: allowed }).then(done));
    setBusy(false);
  };
  const convention = ([name, told]) => html`
    <label class="choice"><input type="checkbox" checked=${allowed.includes(name)} onChange=${() => toggle(name)} />
      <b>${name}</b><span class="hint">${told}</span></label>`;
  return html`
    <${Dialog} title="Compare with a text" close=${close}>
      <form class="compare" onSubmit=${compare}>
        <p class="hint">Somebody else's reading of this page: a colleague's, a language model's, an edition. It is aligned with
          the lines and checked against the ink. Nothing is changed until you take it.</p>
        <label><span>Paste the text</span><textarea ref=${text} rows="5" autofocus spellcheck=${false} /></label>
        <label><span>or choose a file: text, Markdown, PAGE, ALTO, TEI, JSON, Word</span><input type="file" ref=${file} accept=${KINDS} /></label>
        <fieldset><legend>Ignore differences in</legend>
          ${Object.entries(CONVENTIONS).map(convention)}</fieldset>
        ${error && html`<p class="flag" role="alert">${error}</p>`}
        <p><button type="submit" class="main" disabled=${isBusy}>${isBusy ? "Comparing…" : "Compare"}</button></p>
      </form>
    <//>`;
}
