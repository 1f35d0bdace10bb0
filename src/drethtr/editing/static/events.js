// Events from the server: changed pages and lines, progress of jobs, and whether it responds at all.

import { useEffect } from "./vendor/hooks.js";

const RETRY = 5000; // ms
const source = new EventTarget();
let stream;
let timer = 0;

const tell = (name, detail) => source.dispatchEvent(new CustomEvent(name, { detail }));

// Opens the stream anew, for as long as the tab is visible: a browser has six connections to a server, and the streams of
// hidden tabs would use them up, so that nothing could be saved any more.
function connect() {
  clearTimeout(timer);
  stream?.close();
  if (document.hidden) return;
  stream = new EventSource("/api/events");
  for (const name of ["page", "line", "pages", "job", "status", "people"])
    stream.addEventListener(name, ({ data }) => tell(name, JSON.parse(data)));
  stream.addEventListener("open", () => tell("connected"));
  stream.addEventListener("error", () => {
    tell("lost");
    // Browsers try again by themselves, but not after a refusal, such as that of a proxy whose server is away.
    if (stream.readyState === EventSource.CLOSED) timer = setTimeout(connect, RETRY);
  });
}

// Call it once.
export function listen() {
  document.addEventListener("visibilitychange", connect);
  connect();
}

export function on(name, handle) {
  const told = (event) => handle(event.detail);
  source.addEventListener(name, told);
  return () => source.removeEventListener(name, told);
}

// `handlers` by event name, for as long as a component is shown; `inputs` as in useEffect.
export function useEvents(handlers, inputs = []) {
  useEffect(() => {
    const ends = Object.entries(handlers).map(([name, handle]) => on(name, handle));
    return () => {
      for (const end of ends) end();
    };
  }, inputs);
}
