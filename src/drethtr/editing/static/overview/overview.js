// All pages of the folder: what is done, what to do next, and a search in all texts.

import * as api from "../api.js";
import { useEvents } from "../events.js";
import { between, counted, duration, isGoing, percent, STATUS_NAMES, UNKNOWN_HAND } from "../format.js";
import { html } from "../html.js";
import { useSetting } from "../settings.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { Hits } from "./hits.js";

const REFETCH = 500; // ms; reading a folder changes a page every few seconds

export function Overview({ status, jobs, selection, select, words, search, last }) {
  const [pages, setPages] = useState(null);
  const [error, setError] = useState(null);
  const [sorting, setSorting] = useSetting("sorting", "name");
  const timer = useRef(0);
  const load = () => api.pages().then(setPages, (failed) => setError(failed.message));
  const refetch = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(load, REFETCH);
  };
  useEffect(() => {
    document.title = `${status.folder} – drethtr`;
    load();
    return () => clearTimeout(timer.current);
  }, []);
  // Back from a page, where that is.
  const isLoaded = pages !== null;
  useEffect(() => {
    if (isLoaded && last) document.querySelector(`.card [href="/p/${CSS.escape(last)}"]`)?.focus();
  }, [isLoaded]);
  const put = ({ row }) => setPages((known) => known?.map((page) => (page.id === row.id ? row : page)) ?? known);
  useEvents({ page: put, pages: refetch, connected: load });
  const sorted =
    pages && (sorting === "name" ? pages : pages.toSorted((one, other) => (other.gain ?? -1) - (one.gain ?? -1)));
  const reading = jobs.filter((job) => job.kind === "read" && isGoing(job));
  const unread = pages?.filter((page) => page.status === "unread" && !page.error).length ?? 0;
  const isRated = pages?.some(({ expected_cer }) => expected_cer !== null);
  const toggle = (id) =>
    select(selection.includes(id) ? selection.filter((other) => other !== id) : [...selection, id]);
  // All pages from the one that was selected last to this one.
  const extend = (id) => {
    const ids = sorted.map((page) => page.id);
    const [first, last] = [ids.indexOf(selection.at(-1)), ids.indexOf(id)].toSorted((one, other) => one - other);
    select([...new Set([...selection, ...ids.slice(Math.max(first, 0), last + 1)])]);
  };
  return html`
    <main class="overview">
      <h1>${status.folder}</h1>
      <${Done} pages=${pages} />
      ${reading.map((job) => html`<${Reading} job=${job} />`)}
      ${
        unread > 0 &&
        !reading.length &&
        html`<div class="reading"><span>${counted(unread, "page")} not read</span>
        <button type="button" onClick=${() => api.readUnread().catch((failed) => setError(failed.message))}>Read</button></div>`
      }
      <div class="tools">
        <label class="search"><span class="unseen">Search all texts</span>
          <input type="search" placeholder="Search all texts" value=${words} onInput=${(event) => search(event.target.value)} /></label>
        <span class="gap" />
        ${selection.length > 0 && html`<span class="count">${counted(selection.length, "page")} selected</span> <button type="button" onClick=${() => select([])}>Clear selection</button>`}
        ${
          !words.trim() &&
          html`<label>Sort by <select value=${sorting} onChange=${(event) => setSorting(event.target.value)}>
          <option value="name">name</option><option value="gain">most errors first</option></select></label>`
        }
      </div>
      ${error && html`<p class="hint flag" role="alert">${error}</p>`}
      ${
        words.trim()
          ? html`<${Hits} words=${words.trim()} />`
          : html`${isRated && html`<p class="hint">Expected error: the percentage of characters that are probably wrong, with a 95 % interval. Doubtful: words below 50 %.</p>`}
            <ul class="cards">${sorted?.map((page) => html`<${Card} key=${page.id} page=${page} isChosen=${selection.includes(page.id)} choose=${(event) => (event.shiftKey && selection.length ? extend : toggle)(page.id)} />`)}</ul>`
      }
      ${pages?.length === 0 && html`<p class="notice">No scans were found. Put images or PDF files into this folder; they appear here.</p>`}
    </main>`;
}

function Done({ pages }) {
  if (!pages) return null;
  const sum = (key) => pages.reduce((total, page) => total + page[key], 0);
  const [lines, confirmed, corrected] = [sum("lines"), sum("confirmed"), sum("corrected")];
  return html`<div class="done">
    <p>${counted(pages.length, "page")}, ${counted(lines, "line")}: ${confirmed.toLocaleString("en")} confirmed, ${corrected.toLocaleString("en")} corrected</p>
    <${Bar} confirmed=${confirmed} corrected=${corrected} lines=${lines} />
  </div>`;
}

function Bar({ confirmed, corrected, lines }) {
  const share = (number) => ({
    width: `${lines ? (100 * number) / lines : 0}%`,
  });
  return html`<div class="share" aria-hidden="true"><i class="confirmed" style=${share(confirmed)} /><i class="corrected" style=${share(corrected)} /></div>`;
}

function Reading({ job }) {
  return html`<div class="reading" role="status">
    <progress max=${job.total || 1} value=${job.done} aria-label="Pages read" />
    <span>${job.message ?? "Waiting to read"} · ${job.done} of ${job.total}${job.seconds_left === null ? "" : ` · ${duration(job.seconds_left)}`}</span>
    <button type="button" onClick=${() => api.endJob(job.id)}>Stop</button>
  </div>`;
}

// File names are long; they break where their parts end.
const breakable = (name) => name.split(/(?<=[/_.-])/u).flatMap((part) => [html`<wbr />`, part]);

// The share of a page's characters that its layout may cost, from which it is worth a look.
const DOUBTFUL_LAYOUT = 0.1;

function Card({ page, isChosen, choose }) {
  const rate =
    page.expected_cer === null
      ? null
      : `${percent(page.expected_cer)}${page.expected_low === null ? "" : ` (${between(page.expected_low, page.expected_high)})`}`;
  return html`<li class="card" data-status=${page.status} data-chosen=${isChosen ? "" : null}>
    <a href=${`/p/${page.id}`}>
      <img src=${api.thumbnail(page.id)} alt="" loading="lazy" onError=${(event) => event.target.removeAttribute("src")} />
      <span class="name">${breakable(page.name)}</span>
      <span class="state">${STATUS_NAMES[page.status]}${page.lines > 0 ? ` · ${page.confirmed} of ${counted(page.lines, "line")} confirmed` : page.status === "read" && " · no lines found"}</span>
    </a>
    <input type="checkbox" checked=${isChosen} onClick=${choose} aria-label=${`Select ${page.name}`} title="Select for export; Shift selects a range" />
    <${Bar} ...${page} />
    ${
      page.error
        ? html`<p class="hint flag">${page.error}</p>`
        : rate &&
          html`${page.unknown_hand && html`<p class="hint flag" title=${UNKNOWN_HAND}>Hand not known</p>`}
          <dl><dt>${page.estimate ? "Expected error (estimate)" : "Expected error"}</dt><dd>${rate}</dd><dt>Doubtful words</dt><dd>${percent(page.doubtful)}</dd>${page.layout > DOUBTFUL_LAYOUT && html`<dt>Layout</dt><dd>table; check its order</dd>`}</dl>`
    }
  </li>`;
}
