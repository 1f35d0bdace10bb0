// Files to take away: a page, the selected pages or all of them, in any format.

import * as api from "../api.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

const FORMATS = {
  txt: ["Text", "plain, line by line"],
  md: ["Markdown", "paragraphs, doubtful words marked"],
  docx: ["Word", "paragraphs, doubtful words shaded"],
  page: ["PAGE XML", "lines, words and their positions; records what was corrected or confirmed"],
  alto: ["ALTO", "for libraries and viewers; records what was corrected or confirmed"],
  tei: ["TEI", "for editions: text and zones of the scan, doubtful words as <unclear>"],
  hocr: ["hOCR", "HTML with positions"],
  json: ["JSON", "everything, for programs"],
  iiif: ["IIIF", "annotations of lines and words for viewers"],
  csv: ["CSV", "a table with a row per word"],
  tables: ["Tables", "as CSV, a row per row of each table"],
  xlsx: ["Excel", "tables and texts as sheets"],
  html: ["HTML", "for reading, doubtful words marked"],
  pdf: ["PDF", "the scans with text to search and copy"],
  pdfa: ["PDF/A", "the same for archives"],
};

export function Export({ formats, page, selection, close }) {
  const scopes = [
    ...(page ? [["This page", [page]]] : []),
    ...(selection.length ? [[counted(selection.length, "selected page"), selection]] : []),
    ["All pages", null],
  ];
  const [scope, setScope] = useState(0);
  const [format, setFormat] = useState(formats[0]);
  return html`<${Dialog} title="Export" close=${close}>
    <fieldset><legend>Pages</legend>${scopes.map(
      ([name], place) =>
        html`<label><input type="radio" name="scope" checked=${place === scope} onChange=${() => setScope(place)} /><span>${name}</span></label>`,
    )}</fieldset>
    <fieldset><legend>Format</legend>${formats.map(
      (
        key,
      ) => html`<label class="choice"><input type="radio" name="format" value=${key} checked=${key === format} onChange=${() => setFormat(key)} />
        <b>${FORMATS[key]?.[0] ?? key}</b> <span class="hint">${FORMATS[key]?.[1]}</span></label>`,
    )}</fieldset>
    <a class="main" href=${api.exportPath(format, scopes[scope][1])} download>Download</a>
  </${Dialog}>`;
}
