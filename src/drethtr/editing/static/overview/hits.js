// Lines that hold the words searched for: in their texts, and by the index, where they may have been misread.

import * as api from "../api.js";
import { counted, isGoing } from "../format.js";
import { html } from "../html.js";
import { pathOfHit } from "../route.js";
import { useLeast } from "../settings.js";
import { useEffect, useState } from "../vendor/hooks.js";

const PAUSE = 200; // ms
const ANSWERS = { y: true, n: false };

export function Hits({ words, status, jobs, pages, start }) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [judged, setJudged] = useState(0); // verdicts so far; after each, the hits are others
  const [least, setLeast] = useLeast();
  const fail = (failed) => setError(failed.message);
  // Without an answer, the hits of other words must not stay.
  const show = (answer, failed) => {
    setFound(answer);
    setError(failed?.message ?? null);
  };
  const isIndexing = jobs.some((job) => job.kind === "index" && isGoing(job));
  // Again when the index is complete: until then, it may lack the pages that hold them.
  useEffect(() => {
    const left = new AbortController();
    const timer = setTimeout(() => {
      api.search(words, null, left.signal).then(
        (answer) => left.signal.aborted || show(answer),
        (failed) => left.signal.aborted || show(null, failed),
      );
    }, PAUSE);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [words, isIndexing, judged]);
  const trouble = error && html`<p class="hint flag" role="alert">${error}</p>`;
  if (!found) return trouble;
  const judge = ({ page, line }, stands) =>
    api.judgeHit(words, page, line, stands).then(() => setJudged((count) => count + 1), fail);
  const shown = found.hits.filter(({ probability }) => !probability || 100 * probability >= least);
  const hidden = found.hits.length - shown.length;
  const number = found.total - found.hits.filter((hit) => hit.probability === 0 || !shown.includes(hit)).length;
  const isIndexed = found.hits.some(({ probability }) => probability !== undefined);
  return html`
    ${trouble}
    ${found.index_error && html`<p class="hint flag" role="alert">Only texts were searched: ${found.index_error}</p>`}
    <p class="count" role="status">${number ? `${found.more && !hidden ? "At least " : ""}${counted(number, "line")}` : "No line contains these words"}${saidOf(pages, isIndexed)}.${
      hidden > 0 && ` ${found.more ? "At least " : ""}${counted(hidden, "less likely line")} below ${least} %.`
    }</p>
    ${
      !status.index &&
      status.role === "manage" &&
      !isIndexing &&
      html`<p class="hint"><button type="button" onClick=${() => api.makeSearchable().catch(fail)}>Make searchable</button>
        ${" "}builds an index that also finds words that were misread, and keeps it up to date.</p>`
    }
    ${
      isIndexed &&
      html`<p class="least"><label>Possible lines from <input type="range" min="2" max="95" value=${least} onInput=${(event) => setLeast(Number(event.target.value))} /> ${least} %</label>
        ${status.role !== "read" && html`<span class="hint">Press <kbd>Y</kbd> or <kbd>N</kbd> on a line to say whether the words are there; later searches learn from it.</span>`}</p>`
    }
    <ol class="hits">${shown.map((hit) => html`<${Hit} key=${`${hit.page} ${hit.line}`} words=${words} hit=${hit} start=${start} judge=${status.role !== "read" && judge} />`)}</ol>`;
}

// In how many pages was searched, if not in all that can be read.
function saidOf(pages, isIndexed) {
  const readable = pages.filter(({ status, error }) => status !== "unread" || !error);
  const read = readable.filter(({ status }) => status !== "unread").length;
  return read < readable.length && !isIndexed
    ? ` in the ${read} of ${counted(readable.length, "page")} read so far`
    : "";
}

// Without `judge`, nothing is said of it.
function Hit({ words, hit, start, judge }) {
  const { page, line, text, ranges, probability } = hit;
  const name = hit.name.slice(start);
  const link = pathOfHit(hit, words);
  if (probability === undefined)
    return html`<li><a href=${link}><span class="text">${marked(text, ranges)}</span><span class="name">${name}</span></a></li>`;
  const answer = (event) => {
    const stands = ANSWERS[event.key.toLowerCase()];
    if (!judge || stands === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { nextElementSibling: next } = event.currentTarget;
    next?.querySelector("a").focus();
    judge(hit, stands);
  };
  const likely = { 0: "rejected", 1: "certain" }[probability] ?? `${Math.round(100 * probability)} % likely`;
  return html`<li onKeyDown=${answer} data-rejected=${probability === 0 ? "" : null}><a href=${link}>
      <img class="ink" src=${hit.unread ? api.image(page, hit.box.map(Math.round)) : api.strip(page, line)} alt="" loading="lazy" />
      <span class="text">${text}</span>
      <span class="name">${likely}, ${name}${hit.unread && ", not read yet"}</span></a>
    ${
      judge &&
      html`<span class="verdict"><button type="button" title="Y" onClick=${() => judge(hit, true)}>Correct</button>
      <button type="button" title="N" onClick=${() => judge(hit, false)}>Not there</button></span>`
    }</li>`;
}

// Ranges count code points.
function marked(text, ranges) {
  const characters = [...text];
  let place = 0;
  const parts = ranges.flatMap(([start, end]) => {
    const before = characters.slice(place, start).join("");
    place = end;
    return [before, html`<mark>${characters.slice(start, end).join("")}</mark>`];
  });
  return [...parts, characters.slice(place).join("")];
}
