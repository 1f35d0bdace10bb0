// Reading a page or a line again.

import * as api from "../api.js";

// `attempt` as in use_said.js.
export function useReading(store, attempt, load) {
  const readPage = () =>
    attempt(async () => {
      await api.readPage(store.id);
      return "The page is being read; lines that you have edited stay.";
    });
  const readLine = (line) =>
    attempt(async () => {
      await store.save(line);
      await api.readLine(store.id, line, store.entries.get(line).line.revision);
      await load();
      return "The line was read again; Ctrl+Z brings its earlier text back.";
    });
  return { readPage, readLine };
}
