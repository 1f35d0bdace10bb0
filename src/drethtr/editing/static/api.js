// The server's API. Every call returns the parsed answer or throws a `Refused` or, with no server, an `Unreachable`.

import { counted } from "./format.js";
import { setting } from "./settings.js";

class Refused extends Error {
  constructor(status, answer) {
    super(sentence(answer.error ?? `the server answered with status ${status}`));
    this.status = status;
    this.answer = answer;
  }
}

class Unreachable extends Error {
  constructor() {
    super("The server does not respond. Is drethtr edit still running?");
  }
}

// The server's reasons are written to follow a file name, in lower case; alone, they start a sentence.
const sentence = (reason) => reason.replace(/^[a-z]+(?=[ ,])/, (word) => word[0].toUpperCase() + word.slice(1));

const PATIENCE = 60_000; // ms; a lost connection may never report that it is lost

async function ask(method, path, { body, content, revision, keepalive, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (revision !== undefined) headers["If-Match"] = `"${revision}"`;
  let response;
  let answer;
  try {
    response = await fetch(path, {
      method,
      headers,
      keepalive,
      signal,
      body: body === undefined ? content : JSON.stringify(body),
    });
    answer = await contentOf(response);
  } catch {
    throw new Unreachable();
  }
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

// JSON as its value, a file as {name, content}.
async function contentOf(response) {
  const attached = response.headers.get("Content-Disposition");
  if (attached) return { name: decodeURIComponent(attached.split("''")[1]), content: await response.blob() };
  return response.headers.get("Content-Type")?.startsWith("application/json") ? response.json() : {};
}

// A change with the name of the person who makes it, for the history.
const signed = (body) => ({ ...body, who: setting("name", "") || undefined });

const pagePath = (page) => `/api/pages/${encodeURIComponent(page)}`;
const linePath = (page, line) => `${pagePath(page)}/lines/${encodeURIComponent(line)}`;

export const status = () => ask("GET", "/api/status");
export const pages = () => ask("GET", "/api/pages");
export const page = (id) => ask("GET", pagePath(id));
export const characters = (page) => ask("GET", `${pagePath(page)}/characters`);
// Lines with these words, of all pages or of one. `signal` tells when nobody wants the answer any more.
export const search = (words, page, signal) =>
  ask("GET", `/api/search?${new URLSearchParams({ q: words, limit: 200, ...(page && { page }) })}`, { signal });
export const judgeHit = (q, page, line, stands) =>
  ask("POST", "/api/search/judge", { body: { q, page, line, stands } });

export const putLine = (page, line, revision, body, options) =>
  ask("PUT", linePath(page, line), {
    body: signed(body),
    revision,
    signal: AbortSignal.timeout(PATIENCE),
    ...options,
  });
// Other readings of the word from `start` to `end` of a text; places count code points.
export const alternatives = (page, line, body, signal) =>
  ask("POST", `${linePath(page, line)}/alternatives`, { body, signal });
export const history = (page, line) => ask("GET", `${linePath(page, line)}/history`);
export const readLine = (page, line, revision) =>
  ask("POST", `${linePath(page, line)}/read`, { body: signed({}), revision });

// Changes the layout: `{do: "cut", stroke: […]}`. Answers with the page, and which lines `changed`.
export const layout = (page, body) => ask("POST", `${pagePath(page)}/layout`, { body: signed(body) });
export const undo = (page, body = {}) => ask("POST", `${pagePath(page)}/undo`, { body: signed(body) });
export const redo = (page, body = {}) => ask("POST", `${pagePath(page)}/redo`, { body: signed(body) });
export const steps = (page) => ask("GET", `${pagePath(page)}/history`);

// `content` is a File or a text; `allow` are names of conventions.
export const compare = (page, { name, content, allow }) =>
  ask("POST", `${pagePath(page)}/compare?${new URLSearchParams({ name, allow })}`, { content });

// Confirms pages; with `lines`, only the lines of one page that have these revisions. Answers with the number of lines,
// and throws if some pages could not be changed, though the others are.
export async function confirm(pages, lines) {
  const { confirmed, failed = [] } = await ask("POST", "/api/confirm", { body: signed({ pages, lines }) });
  if (failed.length)
    throw new Error(
      `${counted(confirmed, "line")} confirmed. ${counted(failed.length, "page")} could not be: ${failed[0]}`,
    );
  return confirmed;
}

export const readPage = (page) => ask("POST", `${pagePath(page)}/read`);
// Reads pages; without their ids, those that were never read.
export const read = (pages) => ask("POST", "/api/read", { body: { pages } });
export const makeSearchable = () => ask("POST", "/api/index");
// Says where this person is, and answers where everybody is.
export const here = (body, options) => ask("POST", "/api/here", { body, ...options });
export const learn = () => ask("POST", "/api/learn", { body: {} });
export const adopt = (job) => ask("POST", `/api/jobs/${encodeURIComponent(job)}/adopt`);
export const endJob = (job) => ask("DELETE", `/api/jobs/${encodeURIComponent(job)}`);

export const thumbnail = (page) => `${pagePath(page)}/thumbnail.jpg`;
export const image = (page, box) => `${pagePath(page)}/image.jpg${box ? `?box=${box.join(",")}` : ""}`;
export const strip = (page, line) => `${linePath(page, line)}/strip.jpg`;

// In the body, as a thousand pages are too many for a URL.
const choice = (format, pages) => new URLSearchParams({ format, ...(pages && { pages: pages.join(",") }) });
export const preview = (format, pages, signal) =>
  ask("POST", "/api/preview", { content: choice(format, pages), signal });
export const exported = (format, pages) => ask("POST", "/api/export", { content: choice(format, pages) });
export const edition = () => ask("GET", "/api/edition");
export const putEdition = (body) => ask("PUT", "/api/edition", { body });
