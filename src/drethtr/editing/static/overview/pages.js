// Pages as cards or as rows. Only those near the window are in the document, so that a thousand are as quick as ten.

import * as api from "../api.js";
import { between, counted, cutName, isLayoutDoubtful, percent, UNKNOWN_HAND, wrongWords } from "../format.js";
import { html } from "../html.js";
import { Dots } from "../people.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";

const CARD = { width: 200, height: 300 }; // px, with the gaps
const ROW = 72;
const BEYOND = 2; // rows above and below the window that are there as well

export function PageList({ pages, start, view, order, people, selection, choose, last }) {
  const list = useRef();
  const { columns, from, to, height } = useWindow(list, pages.length, view);
  // Back from a page, where that is.
  const isThere = pages.some(({ id }) => id === last);
  useEffect(() => {
    const place = pages.findIndex(({ id }) => id === last);
    if (place < 0) return;
    const top = list.current.getBoundingClientRect().top + scrollY + Math.floor(place / columns) * height;
    if (top + height > scrollY + innerHeight || top < scrollY) scrollTo(0, top - innerHeight / 3);
    requestAnimationFrame(() => list.current?.querySelector(`[href="/p/${CSS.escape(last)}"]`)?.focus());
  }, [isThere]);
  const rows = Math.ceil(pages.length / columns);
  const style = { height: `${rows * height}px`, "--columns": columns, "--from": `${from * height}px` };
  const shown = pages.slice(from * columns, to * columns);
  return html`<ul class=${view === "list" ? "rows" : "cards"} ref=${list} style=${style}>
    ${shown.map(
      (
        page,
        place,
      ) => html`<${Item} key=${page.id} page=${page} name=${page.name.slice(start)} place=${from * columns + place + 1} size=${pages.length}
        isRow=${view === "list"} order=${order} people=${people.filter((one) => one.page === page.id)}
        isChosen=${selection.includes(page.id)} choose=${(event) => choose(page.id, event.shiftKey)} />`,
    )}
  </ul>`;
}

// Which rows of a list of items are near the window of the browser.
function useWindow(list, length, view) {
  const [state, set] = useState({ columns: 1, from: 0, to: 8, height: view === "list" ? ROW : CARD.height });
  useLayoutEffect(() => {
    const look = () => {
      if (!list.current) return;
      const { top, width } = list.current.getBoundingClientRect();
      const columns = view === "list" ? 1 : Math.max(2, Math.floor(width / CARD.width));
      const height = view === "list" ? ROW : CARD.height;
      const rows = Math.ceil(length / columns);
      const from = Math.max(0, Math.min(rows, Math.floor(-top / height)) - BEYOND);
      const to = Math.max(from, Math.min(rows, Math.ceil((innerHeight - top) / height) + BEYOND));
      const now = { columns, from, to, height };
      set((before) => (Object.keys(now).every((key) => now[key] === before[key]) ? before : now));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    const watch = new ResizeObserver(look);
    watch.observe(list.current);
    return () => {
      removeEventListener("scroll", look);
      watch.disconnect();
    };
  }, [length, view]);
  return state;
}

// How many characters all names have at their start that tell nothing: the folders that they are all in.
export function commonStart(names) {
  const folders = names.map((name) => name.slice(0, name.lastIndexOf("/") + 1));
  let common = folders[0] ?? "";
  for (const folder of folders)
    while (!folder.startsWith(common)) common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
  return common.length;
}

// File names are long; they break where their parts end, but not before ".jpg".
const breakable = (name) => name.split(/(?<=[/_-])|(?<=\.)(?=.*\.)/u).flatMap((part) => [html`<wbr />`, part]);

const LONG = 40; // characters: no more stand on two lines of a card

// A name as it is shown: one that is too long is cut before its end.
function Name({ name }) {
  if (name.length <= LONG) return html`<span class="name">${breakable(name)}</span>`;
  const [start, end] = cutName(name);
  return html`<span class="name long"><span>${start}</span><span>${end}</span></span>`;
}

function stateOf({ status, lines, confirmed, corrected }) {
  if (status === "unread") return lines ? `unread, ${counted(lines, "line")}` : "unread";
  if (!lines) return "no lines found";
  return `${confirmed} of ${counted(lines, "line")} confirmed${corrected ? `, ${corrected} corrected` : ""}`;
}

function Item({ page, name, place, size, isRow, order, people, isChosen, choose }) {
  const { status } = page;
  const flags = [
    page.unknown_hand && html`<span title=${UNKNOWN_HAND}>Unknown hand</span>`,
    isLayoutDoubtful(page) && html`<span title="Check the order of its lines">Layout doubtful</span>`,
    page.error && html`<span class="why" title=${page.error}>${page.error}</span>`,
  ];
  return html`<li class="card" data-status=${status} data-chosen=${isChosen ? "" : null} aria-setsize=${size} aria-posinset=${place}>
    <a href=${`/p/${page.id}`} title=${page.name}>
      <${Thumbnail} page=${page} />
      <span class="about">
        <${Name} name=${name} />
        ${page.error && !page.lines ? null : html`<span class="state">${stateOf(page)}</span>`}
        ${flags.some(Boolean) && html`<span class="flag hint">${flags.filter(Boolean)}</span>`}
        <${Numbers} page=${page} />
        ${(isRow || order === "changed") && page.changed && html`<span class="state">${page.who}, <time datetime=${page.changed}>${new Date(page.changed).toLocaleDateString()}</time></span>`}
      </span>
    </a>
    <${Dots} people=${people} />
    <label class="tick"><input type="checkbox" checked=${isChosen} onClick=${choose} aria-label=${`Select ${page.name}`} title="Shift selects a range" /></label>
  </li>`;
}

// The expected errors: what pages can be sorted by.
function Numbers({ page }) {
  if (page.wrong === null) return null;
  const low = page.expected_low !== null && page.expected_cer !== null;
  return html`<span class="numbers"><span>${wrongWords(page.wrong)}</span>${
    page.expected_cer !== null &&
    html`<span title=${page.estimate ? "An estimate: the model was fine-tuned" : "With a 95 % interval"}>${percent(page.expected_cer)}${low && ` (${between(page.expected_low, page.expected_high)})`}<span class="of"> of characters</span>${page.estimate && ", estimated"}</span>`
  }</span>`;
}

function Thumbnail({ page }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken || page.error) return html`<span class="picture none" aria-hidden="true">no picture</span>`;
  return html`<span class="picture"><img src=${api.thumbnail(page.id)} alt="" loading="lazy" onError=${() => setBroken(true)} /></span>`;
}
