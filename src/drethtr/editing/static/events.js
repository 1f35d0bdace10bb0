// What the server tells by itself: changed pages and lines, progress of jobs, and whether it is there at all.

import { useEffect } from "./vendor/hooks.js";

const source = new EventTarget();
let stream;

// Opens the stream; call it once.
export function listen() {
  stream = new EventSource("/api/events");
  for (const name of ["page", "line", "pages", "job", "status", "people"]) {
    stream.addEventListener(name, (event) => {
      source.dispatchEvent(new CustomEvent(name, { detail: JSON.parse(event.data) }));
    });
  }
  stream.addEventListener("open", () => source.dispatchEvent(new CustomEvent("connected")));
  stream.addEventListener("error", () => source.dispatchEvent(new CustomEvent("lost")));
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
