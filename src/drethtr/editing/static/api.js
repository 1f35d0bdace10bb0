// The server's API. Every call returns the parsed answer or throws a `Refused` or, with no server, an `Unreachable`.

export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error ?? `The server answered with status ${status}.`);
    this.status = status;
    this.answer = answer;
  }
}

export class Unreachable extends Error {
  constructor() {
    super("The server does not respond. Is drethtr edit still running?");
  }
}

async function ask(method, path, { body, content, revision, keepalive } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (revision !== undefined) headers["If-Match"] = `"${revision}"`;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      keepalive,
      body: body === undefined ? content : JSON.stringify(body),
    });
  } catch {
    throw new Unreachable();
  }
  const answer = response.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : {};
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

const pagePath = (page) => `/api/pages/${encodeURIComponent(page)}`;
const linePath = (page, line) => `${pagePath(page)}/lines/${encodeURIComponent(line)}`;

export const status = () => ask("GET", "/api/status");
export const pages = () => ask("GET", "/api/pages");
export const page = (id) => ask("GET", pagePath(id));
export const characters = (page) => ask("GET", `${pagePath(page)}/characters`);
export const search = (words) => ask("GET", `/api/search?limit=200&q=${encodeURIComponent(words)}`);
export const judgeHit = (q, page, line, stands) =>
  ask("POST", "/api/search/judge", { body: { q, page, line, stands } });

export const putLine = (page, line, revision, body, options) =>
  ask("PUT", linePath(page, line), { body, revision, ...options });
export const alternatives = (page, line) => ask("GET", `${linePath(page, line)}/alternatives`);
export const history = (page, line) => ask("GET", `${linePath(page, line)}/history`);
export const readLine = (page, line, revision) => ask("POST", `${linePath(page, line)}/read`, { revision });

// What a person does to the layout: `{do: "cut", stroke: […]}`. Answers with the page, and which lines `changed`.
export const layout = (page, body) => ask("POST", `${pagePath(page)}/layout`, { body });
export const undo = (page, body = {}) => ask("POST", `${pagePath(page)}/undo`, { body });
export const redo = (page, body = {}) => ask("POST", `${pagePath(page)}/redo`, { body });
export const steps = (page) => ask("GET", `${pagePath(page)}/history`);

// `content` is a File or a text; `allow` are names of conventions.
export const compare = (page, { name, content, allow }) =>
  ask("POST", `${pagePath(page)}/compare?${new URLSearchParams({ name, allow })}`, { content });

export const readPage = (page) => ask("POST", `${pagePath(page)}/read`);
export const readUnread = () => ask("POST", "/api/read");
export const learn = () => ask("POST", "/api/learn", { body: {} });
export const adopt = (job) => ask("POST", `/api/jobs/${encodeURIComponent(job)}/adopt`);
export const endJob = (job) => ask("DELETE", `/api/jobs/${encodeURIComponent(job)}`);

export const thumbnail = (page) => `${pagePath(page)}/thumbnail.jpg`;
export const image = (page) => `${pagePath(page)}/image.jpg`;
export const strip = (page, line) => `${linePath(page, line)}/strip.jpg`;

export function exportPath(format, pages) {
  const query = new URLSearchParams({ format });
  if (pages?.length === 1) return `${pagePath(pages[0])}/export?${query}`;
  if (pages) query.set("pages", pages.join(","));
  return `/api/export?${query}`;
}
