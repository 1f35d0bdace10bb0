// Reading a page or a line again.

import * as api from "../api.js";

export function useReading(store, say, load) {
  const attempt = async (doing, done) => {
    try {
      await doing();
      say(done);
    } catch (failed) {
      say(failed.message);
      if (failed.status === 409) load();
    }
  };
  const readPage = () =>
    attempt(() => api.readPage(store.id), "The page is being read; lines that you have edited stay.");
  const readLine = (line) =>
    attempt(async () => {
      await store.save(line);
      await api.readLine(store.id, line, store.entries.get(line).line.revision);
      await load();
    }, "The line was read again; Ctrl+Z brings its earlier text back.");
  return { readPage, readLine };
}
