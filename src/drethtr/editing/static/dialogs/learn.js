// Learning from confirmed lines: start, progress, and what was gained, before it is used.

import * as api from "../api.js";
import { duration, isGoing, percent } from "../format.js";
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

// What the button that opens this says: how far learning is, or how far from its beginning.
export function learningState({ confirmed, needed }, jobs) {
  const job = jobs.find(({ kind }) => kind === "learn");
  if (job && isGoing(job)) return `Learning: ${Math.round((100 * job.done) / (job.total || 1))} %`;
  if (isUndecided(job)) return "Learned";
  return confirmed > 0 && confirmed < needed ? `Learn (${confirmed} of ${needed})` : "Learn";
}

const isUndecided = (job) => job?.state === "done" && job.result && !job.result.adopted;

export function Learn({ status, jobs, close }) {
  const [error, setError] = useState(null);
  const [hidden, setHidden] = useState(null);
  const attempt = (call) =>
    call.then(
      () => setError(null),
      (failed) => setError(failed.message),
    );
  const job = jobs.find(({ kind, id }) => kind === "learn" && id !== hidden);
  const { confirmed, needed, possible, why } = status.learn;
  const discard = () => attempt(api.endJob(job.id).then(() => setHidden(job.id)));
  return html`<${Dialog} title="Learn from my corrections" close=${close}>
    ${job && isGoing(job) && html`<${Progress} job=${job} stop=${() => attempt(api.endJob(job.id))} />`}
    ${job?.state === "failed" && html`<p class="hint flag" role="alert">${job.error}</p>`}
    ${job?.state === "done" && !job.result && html`<p class="hint" role="status">${job.message}</p>`}
    ${job?.state === "done" && job.result && html`<${Gain} result=${job.result} adopt=${() => attempt(api.adopt(job.id))} discard=${discard} />`}
    ${
      !(job && (isGoing(job) || isUndecided(job))) &&
      html`
      <p>drethtr learns the handwriting in this folder from the lines you have confirmed. A fifth of them is held out and shows
        the gain before you adopt the new model. Lines that you have edited are never changed.</p>
      ${confirmed < needed && html`<progress max=${needed} value=${confirmed} aria-label="Confirmed lines" />`}
      ${possible ? html`<button type="button" class="main" onClick=${() => attempt(api.learn())}>Learn from ${confirmed} confirmed lines</button>` : html`<p class="hint">Not yet: ${why}.</p>`}`
    }
    ${error && html`<p class="hint flag" role="alert">${error}</p>`}
    <p class="hint">Model in use: ${status.model_file ?? status.model}</p>
  </${Dialog}>`;
}

function Progress({ job, stop }) {
  return html`<div role="status">
    <p>${job.message ?? "Learning…"}</p>
    <progress max=${job.total || 1} value=${job.done} aria-label="Progress of learning" />
    <p class="hint">You can keep working${job.seconds_left === null ? "." : `: ${duration(job.seconds_left)}.`}</p>
    <button type="button" onClick=${stop}>Stop</button>
  </div>`;
}

function Gain({ result, adopt, discard }) {
  const { low, high } = result;
  const interval =
    low === null ? " (too few pages for an interval)" : ` (95 % interval ${points(low)} to ${points(high)})`;
  const isUnsure = low !== null && low < 0 && high > 0;
  const verdict = isUnsure
    ? `Between ${points(low)} and ${points(high)}: too few lines to tell. Confirm more, and learn again.`
    : result.better
      ? "The new model reads these lines better."
      : "The new model does not read these lines better; discard it.";
  const told = result.adopted
    ? html`<p>In use: <b>${result.file}</b> in this folder; pass it to any command as --model.</p>`
    : html`<p>${verdict}</p>
      <div class="buttons"><button type="button" class=${result.better ? "main" : ""} onClick=${adopt}>Adopt</button>
        <button type="button" onClick=${discard}>Discard</button></div>`;
  return html`<section class="gain">
    <table><caption>Learned from ${result.learned_from} confirmed lines, measured on ${result.held_out} held-out ones</caption>
      <thead><tr><th></th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <tbody>
        <tr><th scope="row">Characters wrong</th><td>${percent(result.cer_before)}</td><td>${percent(result.cer_after)}</td></tr>
        <tr><th scope="row">Words wrong</th><td>${percent(result.wer_before)}</td><td>${percent(result.wer_after)}</td></tr>
      </tbody></table>
    <p class="hint">The held-out lines also chose when to stop, so the gain on others may be a little smaller.</p>
    <p class="hint">Difference in characters: ${points(result.difference)}${interval}</p>
    ${told}
  </section>`;
}

const points = (share) => `${share > 0 ? "+" : "−"}${Math.abs(100 * share).toFixed(1)} points`;
