// Files to take away: a text for readers, an edition, or an archive; of a page, the selected pages or all.

import * as api from "../api.js";
import { useAttempt } from "../attempt.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

const KINDS = {
  "Reading text": ["word", "prose", "print"],
  Edition: ["tei", "tags"],
  Archive: ["page", "alto", "pdf", "pdfa", "iiif"],
  "Working files": ["txt", "md", "docx", "html", "csv", "tables", "xlsx", "hocr", "json"],
};

const FORMATS = {
  txt: ["Text", "plain, line by line"],
  md: ["Markdown, by line", "doubtful words marked"],
  docx: ["Word, by line", "doubtful words shaded, warnings as comments"],
  prose: ["Markdown", "running paragraphs, without marks"],
  word: ["Word", "running paragraphs, without marks"],
  print: ["PDF", "the same, typeset"],
  page: ["PAGE XML", "lines, words, positions, tags; what was corrected or confirmed"],
  alto: ["ALTO", "for libraries and viewers"],
  tei: ["TEI", "paragraphs, names, zones of the scan, who edited it"],
  hocr: ["hOCR", "HTML with positions"],
  json: ["JSON", "everything, for programs"],
  iiif: ["IIIF", "annotations for viewers"],
  csv: ["CSV", "one row per word"],
  tables: ["Tables", "as CSV, one row per table row"],
  tags: ["Tags", "as CSV: persons, places, dates and other tags"],
  xlsx: ["Excel", "tables as sheets"],
  html: ["HTML", "scan and text side by side"],
  pdf: ["PDF, scans", "with text to search and copy"],
  pdfa: ["PDF/A, scans", "the same for archives"],
};

const ABOUT = {
  title: ["Title", "Letters of Anne Grey"],
  author: ["Author", "Anne Grey"],
  shelf_mark: ["Shelf mark", "City Archive, MS 17"],
  editors: ["Editors, separated by semicolons", "Ada Lovelace; Mary Somerville"],
  licence: ["License, as a name or address", "https://creativecommons.org/licenses/by/4.0/"],
  language: ["Language, as a code", "en"],
};

const BEGUN = 60_000; // ms in which a browser has begun to save a file

export function Export({ page, selection, role, close }) {
  const scopes = [
    ...(page ? [["This page", [page]]] : []),
    ...(selection.length ? [[counted(selection.length, "selected page"), selection]] : []),
    ["All pages", null],
  ];
  const [scope, setScope] = useState(0);
  const [format, setFormat] = useState("word");
  const [typed, setTyped] = useState({}); // what is typed here, whatever others have typed meanwhile
  const saving = useRef(Promise.resolve());
  const [isBusy, setBusy] = useState(false);
  const [error, attempt] = useAttempt();
  const [, pages] = scopes[scope];
  const preview = usePreview(format, pages);
  // One after the other, as each adds to what the earlier ones have saved.
  const save = () => {
    const before = saving.current.catch(() => {});
    saving.current = before.then(api.edition).then((now) => api.putEdition({ ...now, ...typed }));
    return saving.current;
  };
  const download = async () => {
    setBusy(true);
    await attempt(
      saving.current
        .catch(save)
        .then(() => api.exported(format, pages))
        .then(keepFile),
    );
    setBusy(false);
  };
  const choices = (kind) =>
    html`<fieldset><legend>${kind}</legend>${KINDS[kind].map(
      (
        key,
      ) => html`<label class="choice"><input type="radio" name="format" value=${key} checked=${key === format} onChange=${() => setFormat(key)} />
      <b>${FORMATS[key][0]}</b> <span class="hint">${FORMATS[key][1]}</span></label>`,
    )}</fieldset>`;
  const cards = Object.keys(KINDS);
  const work = cards.pop(); // folded away
  return html`<${Dialog} title="Export" kind="wide" close=${close}>
    <fieldset class="scopes"><legend>Pages</legend>${scopes.map(
      ([name], place) =>
        html`<label><input type="radio" name="scope" checked=${place === scope} onChange=${() => setScope(place)} /><span>${name}</span></label>`,
    )}</fieldset>
    <div class="kinds">${cards.map(choices)}</div>
    <details><summary>${work}</summary>${choices(work)}</details>
    ${KINDS.Edition.concat(KINDS["Reading text"]).includes(format) && html`<${About} isFixed=${role === "read"} isAsked=${KINDS.Edition.includes(format)} typed=${typed} type=${setTyped} save=${() => attempt(save())} />`}
    <${Preview} ...${preview} />
    <div class="take">${error && html`<p class="flag" role="alert">${error}</p>`}
      <button type="button" class="main" disabled=${isBusy || preview.error !== null} onClick=${download}>${isBusy ? "Preparing…" : "Download"}</button></div>
  </${Dialog}>`;
}

// Has the browser save a file.
function keepFile({ name, content }) {
  const href = URL.createObjectURL(content);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), BEGUN);
}

// The data of the edition: asked for once, when one is exported, and kept with the folder.
function About({ isFixed, isAsked, typed, type, save }) {
  const [known, setKnown] = useState(null);
  const [isNew, setNew] = useState(false); // as of opening the dialog: the section stays open while a title is typed
  useEffect(() => {
    api.edition().then(
      (told) => {
        setKnown(told);
        setNew(!told.title);
      },
      () => {}, // the preview says why
    );
  }, []);
  if (!known) return null;
  const about = { ...known, ...typed };
  return html`<details class="about-edition" open=${isAsked && isNew}><summary>About the edition: ${about.title || "no title yet"}</summary>
    <div class="fields">${Object.entries(ABOUT).map(
      ([key, [name, example]]) =>
        html`<label><span>${name}</span><input type="text" value=${about[key]} placeholder=${example} disabled=${isFixed} onInput=${(event) => type({ ...typed, [key]: event.target.value })} onChange=${save} /></label>`,
    )}</div>
    <p class="hint">Kept with the folder, in drethtr.edition.json.</p></details>`;
}

// The content of the export, as {shown}, or why there can be none, as {error}.
function usePreview(format, pages) {
  const [shown, setShown] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    const left = new AbortController();
    setError(null);
    api.preview(format, pages, left.signal).then(
      (told) => left.signal.aborted || setShown(told),
      (failed) => left.signal.aborted || setError(failed.message),
    );
    return () => left.abort();
  }, [format, pages?.join()]);
  return { shown, error };
}

function Preview({ shown, error }) {
  if (error) return html`<p class="flag" role="alert">${error}</p>`;
  if (!shown) return html`<p class="skeleton preview" aria-busy="true" />`;
  const { text, page, lines, confirmed, left_out: leftOut } = shown;
  return html`<section class="preview" aria-label="Preview">
    ${text !== null ? html`<pre tabindex="0">${text}</pre>` : page && html`<img src=${api.thumbnail(page)} alt="First page" />`}
    <p class="hint">${linesSaid(lines, lines - confirmed)}.
      ${leftOut.length > 0 && html` ${counted(leftOut.length, "page")} left out:`}</p>
    ${leftOut.length > 0 && html`<ul class="hint">${leftOut.slice(0, 20).map(([name, why]) => html`<li>${name}: ${why}</li>`)}</ul>`}
  </section>`;
}

function linesSaid(lines, unconfirmed) {
  if (lines === 0) return "No lines";
  const rest = unconfirmed > 0 ? `${unconfirmed.toLocaleString("en")} of them not confirmed` : "all confirmed";
  return `${counted(lines, "line")}, ${rest}`;
}
