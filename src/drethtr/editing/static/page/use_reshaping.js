// Changing which lines a page has, where they are, and reading them again.

import * as api from "../api.js";
import { useState } from "../vendor/hooks.js";

// `attempt` tells what went wrong, and otherwise `done`; returns whether all went well.
export function useReshaping(store, { active, enter }, say, load) {
  const [deleted, setDeleted] = useState([]); // as `addLine` takes them, the last one last
  const attempt = async (doing, done) => {
    try {
      await doing();
      say(done);
      return true;
    } catch (failed) {
      say(failed.message);
      if (failed.status === 409) load();
      return false;
    }
  };
  // By a call that answers with the page; then the first changed line is the active one, or that nearest to a deleted one.
  const reshape = (line, call, done) =>
    attempt(async () => {
      const place = store.order.findIndex((other) => other.line.id === active);
      const changed = await store.reshape(line, call);
      const first = changed.find((other) => store.entries.has(other));
      const nearest = store.order[Math.min(place, store.order.length - 1)]?.line.id;
      enter(first ?? (store.entries.has(active) ? active : nearest));
    }, done);
  const moveBaseline = (line, baseline) => {
    const call = async (revision) => {
      await api.putLine(store.id, line, revision, { baseline });
      return api.page(store.id);
    };
    return reshape(line, call, "The line image was updated.");
  };
  const draw = (baseline) => reshape(null, () => api.layout(store.id, { do: "draw", baseline }), "A line was added.");
  const remove = async (id) => {
    const call = (revision) => api.layout(store.id, { do: "delete", lines: [id], revisions: { [id]: revision } });
    if (await reshape(id, call, "The line was deleted.")) setDeleted((others) => [...others, id]);
  };
  const restore = async () => {
    const line = deleted.at(-1);
    setDeleted(deleted.slice(0, -1));
    if (!(await reshape(null, () => api.undo(store.id), "The line was restored.")))
      setDeleted((others) => [...others, line]);
  };
  const readPage = () =>
    attempt(() => api.readPage(store.id), "The page is being read; lines that you have edited stay.");
  const readLine = (line) =>
    attempt(async () => {
      await store.save(line);
      await api.readLine(store.id, line, store.entries.get(line).line.revision);
      await load();
    }, "The line was read again; its earlier text is in History.");
  return { reshape, moveBaseline, draw, remove, deleted, restore, readPage, readLine };
}
