// Changing which lines a page has, where they are, and reading them again.

import * as api from "../api.js";

// `attempt` tells what went wrong, and otherwise `done`.
export function useReshaping(store, { active, setActive }, say, load) {
  const attempt = async (doing, done) => {
    try {
      await doing();
      say(done);
    } catch (failed) {
      say(failed.message);
      if (failed.status === 409) load();
    }
  };
  // By a call that answers with the page; then the first changed line is the active one, or that nearest to a deleted one.
  const reshape = (line, call, done) =>
    attempt(async () => {
      const place = store.order.findIndex((other) => other.line.id === active);
      const changed = await store.reshape(line, call);
      const first = changed.find((other) => store.entries.has(other));
      const nearest = store.order[Math.min(place, store.order.length - 1)]?.line.id;
      setActive(first ?? (store.entries.has(active) ? active : nearest));
    }, done);
  const moveBaseline = (line, baseline) => {
    const call = async (revision) => {
      await api.putLine(store.id, line, revision, { baseline });
      return api.page(store.id);
    };
    return reshape(line, call, "The line image was updated.");
  };
  const draw = (baseline) => reshape(null, () => api.addLine(store.id, { baseline }), "A line was added.");
  const readPage = () =>
    attempt(() => api.readPage(store.id), "The page is being read; lines that you have edited stay.");
  const readLine = (line) =>
    attempt(async () => {
      await store.save(line);
      await api.readLine(store.id, line, store.entries.get(line).line.revision);
      await load();
    }, "The line was read again; its earlier text is in History.");
  return { reshape, moveBaseline, draw, readPage, readLine };
}
