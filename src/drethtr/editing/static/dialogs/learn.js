// Learning from confirmed lines: start, progress, and what was gained, before it is used.

import * as api from "../api.js";
import { useAttempt } from "../attempt.js";
import { duration, isGoing, percent } from "../format.js";
import { html } from "../html.js";
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
  const [error, attempt] = useAttempt();
  const job = jobs.find(({ kind }) => kind === "learn");
  const { confirmed, needed, possible, why } = status.learn;
  const discard = () => attempt(api.endJob(job.id));
  return html`<${Dialog} title="Learn from my corrections" close=${close}>
    ${job && isGoing(job) && html`<${Progress} job=${job} stop=${() => attempt(api.endJob(job.id))} />`}
    ${job?.state === "failed" && html`<p class="hint flag" role="alert">${job.error}</p>`}
    ${job?.state === "done" && !job.result && html`<p class="hint" role="status">${job.message}</p>`}
    ${job?.state === "done" && job.result && html`<${Gain} result=${job.result} adopt=${() => attempt(api.adopt(job.id))} discard=${discard} />`}
    ${
      !(job && (isGoing(job) || isUndecided(job))) &&
      html`
      <p>drethtr learns the handwriting in this folder from the lines you have confirmed, and measures the gain before you adopt
        the new model. Lines that you have edited are never changed.</p>
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
  const { low } = interval(result.change, "cer");
  const told = result.adopted
    ? html`<p>In use: <b>${result.file}</b> in this folder; pass it to any command as --model.</p>`
    : html`<p>${verdict(result)}</p>
      <div class="buttons"><button type="button" class=${result.better ? "main" : ""} onClick=${adopt}>Adopt</button>
        <button type="button" onClick=${discard}>Discard</button></div>`;
  return html`<section class="gain">
    <table><caption>Learned from ${result.learned_from} confirmed lines; measured on ${result.measured} of them, each read by a model trained on others</caption>
      <thead><tr><th></th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Difference</th></tr></thead>
      <tbody>
        ${rate("Characters wrong", "cer", result)}
        ${rate("Words wrong", "wer", result)}
      </tbody></table>
    ${low !== null && !result.by_page && html`<p class="hint">There are few pages, so the measured lines are from pages that were also trained on: the gain holds for such pages.</p>`}
    ${told}
  </section>`;
}

function rate(name, key, result) {
  const { low, high } = interval(result.change, key);
  return html`<tr><th scope="row">${name}</th><td>${percent(result[`${key}_before`])}</td><td>${percent(result[`${key}_after`])}</td>
    <td>${points(result.change[key])}${low !== null && html` <span class="hint">(${points(low)} to ${points(high)})</span>`}</td></tr>`;
}

const interval = (change, key) => ({ low: change[`${key}_low`], high: change[`${key}_high`] });

function verdict({ change, better }) {
  const unsure = [
    ["characters", "cer"],
    ["words", "wer"],
  ].filter(([, key]) => change[`${key}_low`] < 0 && change[`${key}_high`] > 0);
  if (!better) return "The new model does not read these lines better; discard it.";
  if (unsure.length > 0) {
    const [what, key] = unsure[0];
    const { low, high } = interval(change, key);
    return `The new model seems better, but there are too few lines to be sure: the difference is between ${points(low)} and ${points(high)} of ${what}. Confirm more lines, and learn again.`;
  }
  return "The new model reads these lines better.";
}

const points = (share) => `${share > 0 ? "+" : "−"}${Math.abs(100 * share).toFixed(1)} points`;
