// Tags on passages of a line: persons, places, dates and what an editor says of the text.

import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { Toolbar } from "./toolbar.js";
import { codePoints, utf16 } from "./words.js";

const NAMES = {
  person: "Person",
  place: "Place",
  date: "Date",
  organization: "Organisation",
  abbrev: "Abbreviation",
  unclear: "Unclear",
  deleted: "Deleted",
  added: "Added",
};

// The tags of an entry with places in its text; none while that is not saved, as they move with it.
export const tagsIn = ({ line, text }) =>
  line.text === text
    ? (line.tags ?? []).map((tag) => ({
        ...tag,
        from: utf16(text, tag.start),
        to: utf16(text, tag.start + tag.length),
      }))
    : [];

// `passage` is [from, to] in the text of the entry; `save` is given all tags that the line is to have.
export function Tags({ entry, passage: [from, to], save, entered, back }) {
  const [expansion, setExpansion] = useState("");
  const { text } = entry;
  const tags = tagsIn(entry);
  const isSame = (tag, name) => tag.name === name && tag.from === from && tag.to === to;
  const put = (kept, added) =>
    save([...kept, ...added].map(({ name, start, length, details }) => ({ name, start, length, details })));
  const others = (name) => tags.filter((tag) => !isSame(tag, name));
  const made = (name) => {
    const start = codePoints(text, from);
    const details = name === "abbrev" && expansion.trim() ? { expansion: expansion.trim() } : {};
    return { name, start, length: codePoints(text, to) - start, details };
  };
  const toggle = (name) => put(others(name), others(name).length < tags.length ? [] : [made(name)]);
  const expand = (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing || from === to) return;
    event.preventDefault();
    put(others("abbrev"), [made("abbrev")]);
  };
  return html`<${Toolbar} label="Tags" kind="tagging" entered=${entered} back=${back}>
    <span class="hint">“${text.slice(from, to)}”</span>
    ${Object.entries(NAMES).map(([name, label]) => {
      const button = html`<button type="button" aria-pressed=${tags.some((tag) => isSame(tag, name))} disabled=${from === to}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => toggle(name)}>${label}</button>`;
      if (name !== "abbrev") return button;
      return html`<span class="abbrev">${button}<label class="hint">of <input type="text" value=${expansion} placeholder="what it stands for"
        onInput=${(event) => setExpansion(event.target.value)} onKeyDown=${expand} /></label></span>`;
    })}
    ${tags.map(
      (
        tag,
      ) => html`<span class="tag">${text.slice(tag.from, tag.to)} <small>${NAMES[tag.name] ?? tag.name}${tag.details.expansion ? `: ${tag.details.expansion}` : ""}</small>
        <button type="button" class="close" aria-label=${`Remove the tag of ${text.slice(tag.from, tag.to)}`} onClick=${() =>
          put(
            tags.filter((other) => other !== tag),
            [],
          )}>×</button></span>`,
    )}
  <//>`;
}
