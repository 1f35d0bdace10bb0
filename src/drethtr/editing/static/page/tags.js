// Tags on passages of a line: persons, places, dates and editorial notes on the text.

import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { Toolbar } from "./toolbar.js";
import { codePoints, utf16 } from "./words.js";

const NAMES = {
  person: "Person",
  place: "Place",
  date: "Date",
  organization: "Organization",
  abbrev: "Abbreviation",
  unclear: "Unclear",
  deleted: "Deleted",
  added: "Added",
};

// The tags of an entry with places in its text; none while that is not saved, as they move with it.
export const tagsIn = ({ line, text }) =>
  line.text === text
    ? (line.tags ?? []).map((tag) => ({
        tag,
        from: utf16(text, tag.start),
        to: utf16(text, tag.start + tag.length),
      }))
    : [];

// Whether two tags have the same name and passage; their details may differ.
const isSame = (one, other) => one.name === other.name && one.start === other.start && one.length === other.length;

// `passage` is [from, to] in the text of the entry; `save` is given a function of the tags that the line has once its
// text is saved, which returns those that it is to have.
export function Tags({ entry, passage: [from, to], save, entered, back }) {
  const [expansion, setExpansion] = useState("");
  const { text } = entry;
  const tags = tagsIn(entry);
  const start = codePoints(text, from);
  const made = (name) => {
    const details = name === "abbrev" && expansion.trim() ? { expansion: expansion.trim() } : {};
    return { name, start, length: codePoints(text, to) - start, details };
  };
  const has = (name) => tags.some(({ tag }) => isSame(tag, made(name)));
  const set = (tag, isWanted) =>
    save((now) => [...now.filter((other) => !isSame(other, tag)), ...(isWanted ? [tag] : [])]);
  const remove = (tag) => save((now) => now.filter((other) => JSON.stringify(other) !== JSON.stringify(tag)));
  const expand = (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing || from === to) return;
    event.preventDefault();
    set(made("abbrev"), true);
  };
  return html`<${Toolbar} label="Tags" kind="tagging" entered=${entered} back=${back}>
    <span class="hint">“${text.slice(from, to)}”</span>
    ${Object.entries(NAMES).map(([name, label]) => {
      const button = html`<button type="button" aria-pressed=${has(name)} disabled=${from === to}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => set(made(name), !has(name))}>${label}</button>`;
      if (name !== "abbrev") return button;
      return html`<span class="abbrev">${button}<label class="hint">of <input type="text" value=${expansion} placeholder="what it stands for"
        onInput=${(event) => setExpansion(event.target.value)} onKeyDown=${expand} /></label></span>`;
    })}
    ${tags.map(({ tag, ...place }) => {
      const marked = text.slice(place.from, place.to);
      return html`<span class="tag">${marked} <small>${NAMES[tag.name] ?? tag.name}${tag.details.expansion ? `: ${tag.details.expansion}` : ""}</small>
        <button type="button" class="close" aria-label=${`Remove the tag of ${marked}`} onClick=${() => remove(tag)}>×</button></span>`;
    })}
  <//>`;
}
