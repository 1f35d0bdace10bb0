// All pages of the folder as a work list: what is done, what to do next, and a search in names and texts.

import * as api from "../api.js";
import { useAttempt } from "../attempt.js";
import { useEvents } from "../events.js";
import { counted, duration, isGoing, isLayoutDoubtful, leftSaid } from "../format.js";
import { html } from "../html.js";
import { useSetting } from "../settings.js";
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { Hits } from "./hits.js";
import { commonStart, PageList } from "./pages.js";

const REFETCH = 500; // ms; reading a folder changes a page every few seconds

const FILTERS = {
  all: ["All", () => true],
  unread: ["Unread", ({ status }) => status === "unread"],
  layout: ["Layout doubtful", isLayoutDoubtful],
  work: ["To correct", ({ status }) => status === "read" || status === "corrected"],
  done: ["Done", ({ status }) => status === "confirmed"],
};

const FAILED = { read: "Not all pages were read", index: "The index is not up to date" };

const compareNumbers = (key) => (one, other) => (other[key] ?? -1) - (one[key] ?? -1);
const ORDERS = {
  name: ["name", () => 0],
  wrong: ["wrong words", compareNumbers("wrong")],
  rate: ["error rate", compareNumbers("expected_cer")],
  changed: ["last change", (one, other) => (other.changed ?? "").localeCompare(one.changed ?? "")],
};

export function Overview({ status, jobs, people, selection, select, words, search, last, take }) {
  const [pages, setPages] = useState(null);
  const [trouble, setTrouble] = useState(null); // why the pages could not be fetched
  const [error, attempt] = useAttempt();
  const [order, setOrder] = useSetting("order", "name");
  const [filter, setFilter] = useState("all");
  const [view, setView] = useSetting("view", "grid");
  const timer = useRef(0);
  const load = () =>
    api.pages().then(
      (told) => {
        setPages(told);
        setTrouble(null);
        const ids = new Set(told.map(({ id }) => id));
        select((chosen) => chosen.filter((id) => ids.has(id))); // what is gone could not be cleared any more
      },
      (failed) => setTrouble(failed.message),
    );
  const refetch = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(load, REFETCH);
  };
  useEffect(() => {
    document.title = `${status.folder} – drethtr`;
    load();
    return () => clearTimeout(timer.current);
  }, []);
  const put = ({ row }) => setPages((known) => known?.map((page) => (page.id === row.id ? row : page)) ?? known);
  useEvents({ page: put, pages: refetch, connected: load });
  const start = useMemo(() => commonStart((pages ?? []).map(({ name }) => name)), [pages]);
  const wanted = words.trim().toLowerCase();
  const shown = useMemo(() => {
    const [, isIn] = FILTERS[filter];
    const [, compare] = ORDERS[order] ?? ORDERS.name;
    return (pages ?? []).filter((page) => isIn(page) && page.name.toLowerCase().includes(wanted)).toSorted(compare);
  }, [pages, filter, order, wanted]);
  const isManager = status.role === "manage";
  const unread = pages?.filter((page) => page.counted && page.status === "unread" && !page.error).length ?? 0;
  const left = [
    unread > 0 && `${counted(unread, "page")} not read`,
    status.again > 0 && `${counted(status.again, "page")} to be read again`,
  ].filter(Boolean);
  const isReading = jobs.some((job) => job.kind === "read" && isGoing(job));
  // Shift selects all pages from the one that was selected last to this one.
  const choose = (id, isRange) => {
    if (!isRange || !selection.length) {
      select(selection.includes(id) ? selection.filter((other) => other !== id) : [...selection, id]);
      return;
    }
    const ids = shown.map((page) => page.id);
    const [first, end] = [ids.indexOf(selection.at(-1)), ids.indexOf(id)].toSorted((one, other) => one - other);
    select([...new Set([...selection, ...ids.slice(Math.max(first, 0), end + 1)])]);
  };
  return html`
    <main class="overview">
      <h1>${status.folder}</h1>
      <${Done} pages=${pages} />
      ${jobs.filter((job) => job.kind !== "learn" && isGoing(job)).map((job) => html`<${Working} key=${job.id} job=${job} isManager=${isManager} attempt=${attempt} />`)}
      ${Object.entries(FAILED).map(([kind, told]) => {
        const job = jobs.find((one) => one.kind === kind); // the newest one
        return job?.state === "failed" && html`<p class="hint flag" role="alert">${told}: ${job.error}</p>`;
      })}
      ${
        left.length > 0 &&
        !isReading &&
        html`<div class="reading"><span>${left.join(", ")}</span>
        ${isManager && html`<button type="button" onClick=${() => attempt(api.read())}>Read</button>`}</div>`
      }
      <div class="tools">
        <label class="search"><span class="unseen">Find pages and texts</span>
          <input type="search" placeholder="Find pages and texts" value=${words} onInput=${(event) => search(event.target.value)} /></label>
        <div class="filters" role="group" aria-label="Pages">${Object.entries(FILTERS).map(
          ([
            key,
            [name, isIn],
          ]) => html`<button type="button" aria-pressed=${key === filter} onClick=${() => setFilter(key)}>
            ${name} <span class="count">${pages?.filter(isIn).length ?? ""}</span></button>`,
        )}</div>
        <span class="gap" />
        <label>Sort by <select value=${order} onChange=${(event) => setOrder(event.target.value)}>
          ${Object.entries(ORDERS).map(([key, [name]]) => html`<option value=${key}>${name}</option>`)}</select></label>
        <button type="button" aria-pressed=${view === "list"} onClick=${() => setView(view === "list" ? "grid" : "list")}>List</button>
      </div>
      ${
        selection.length > 0 &&
        html`<${Selected} selection=${selection} select=${select} all=${shown} role=${status.role} take=${take} attempt=${attempt} />`
      }
      ${(error ?? trouble) && html`<p class="hint flag" role="alert">${error ?? trouble}</p>`}
      ${wanted && shown.length > 0 && html`<h2 class="count">${counted(shown.length, "page")}</h2>`}
      ${pages === null ? html`<${Waiting} />` : html`<${PageList} pages=${shown} start=${start} view=${view} order=${order} people=${people} selection=${selection} choose=${choose} last=${last} />`}
      ${pages !== null && shown.length === 0 && !wanted && pages.length > 0 && html`<p class="notice">There are no pages under “${FILTERS[filter][0]}”.</p>`}
      ${wanted && html`<${Hits} words=${words.trim()} status=${status} jobs=${jobs} pages=${pages ?? []} start=${start} />`}
      ${pages?.length === 0 && html`<p class="notice">No scans were found. Put images or PDF files into this folder; they appear here.</p>`}
    </main>`;
}

// Cards that stand for those to come.
function Waiting() {
  return html`<ul class="waiting" aria-busy="true" aria-label="Pages">${[0, 1, 2, 3, 4].map(() => html`<li class="skeleton" />`)}</ul>`;
}

function Done({ pages }) {
  if (!pages) return html`<div class="done"><p> </p></div>`;
  const sum = (key) => pages.reduce((total, page) => total + (page[key] ?? 0), 0);
  const [lines, confirmed, corrected] = [sum("lines"), sum("confirmed"), sum("corrected")];
  const read = pages.filter(({ status }) => status !== "unread").length;
  const doubtful = pages.filter(isLayoutDoubtful).length;
  const uncounted = pages.filter((page) => !page.counted).length;
  const told = [
    `${counted(pages.length, "page")}, ${read.toLocaleString("en")} read`,
    uncounted > 0 && `${counted(uncounted, "page")} still being counted`,
    `${counted(lines, "line")}, ${confirmed.toLocaleString("en")} confirmed, ${corrected.toLocaleString("en")} corrected`,
    pages.some(({ wrong }) => wrong !== null) && leftSaid(sum("wrong")),
    doubtful > 0 && `${counted(doubtful, "page")} with doubtful layout`,
  ];
  return html`<div class="done">
    <p>${told.filter(Boolean).join(" · ")}</p>
    <div class="share" aria-hidden="true"><i class="confirmed" style=${share(confirmed, lines)} /><i class="corrected" style=${share(corrected, lines)} /></div>
  </div>`;
}

const share = (number, lines) => ({ width: `${lines ? (100 * number) / lines : 0}%` });

function Working({ job, isManager, attempt }) {
  return html`<div class="reading" role="status">
    <progress max=${job.total || 1} value=${job.done} aria-label=${job.kind === "read" ? "Pages read" : "Pages made searchable"} />
    <span>${job.message || "Waiting"} · ${job.done} of ${job.total}${job.seconds_left === null ? "" : ` · ${duration(job.seconds_left)}`}</span>
    ${isManager && html`<button type="button" onClick=${() => attempt(api.endJob(job.id))}>Stop</button>`}
  </div>`;
}

// What may be done with the selected pages.
function Selected({ selection, select, all, role, take, attempt }) {
  const act = (call) => attempt(call.then(() => select([])));
  return html`<div class="tools selected" role="group" aria-label="Selected pages">
    <span>${counted(selection.length, "page")} selected</span>
    ${role !== "read" && html`<button type="button" onClick=${() => act(api.confirm(selection))}>Confirm all lines</button>`}
    ${role === "manage" && html`<button type="button" onClick=${() => act(api.read(selection))}>Read again</button>`}
    <button type="button" onClick=${take}>Export</button>
    <button type="button" onClick=${() => select(all.map(({ id }) => id))}>Select all ${all.length}</button>
    <button type="button" onClick=${() => select([])}>Clear selection</button>
  </div>`;
}
