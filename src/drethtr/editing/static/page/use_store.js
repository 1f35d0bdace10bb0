// The page as it is edited, up to date with the server for as long as it is shown.

import { Drafts } from "../drafts.js";
import { useEvents } from "../events.js";
import { useEffect, useMemo, useReducer, useRef, useState } from "../vendor/hooks.js";
import { storeOf } from "./store.js";

const REFETCH = 200; // ms; several events often tell of one change

export function useStore(id, { workspace, folder }) {
  const [, redraw] = useReducer((count) => count + 1, 0);
  const store = useMemo(() => storeOf(id, new Drafts(workspace, id)), [id]);
  const [error, setError] = useState(null);
  const timer = useRef(0);

  const load = () =>
    store.load().then(
      () => setError(null),
      (failed) => setError(failed.message),
    );
  const refetch = ({ page }) => {
    if (page !== id) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(load, REFETCH);
  };
  useEffect(() => {
    const end = store.watch(redraw);
    // Goes on when the tab is gone. Only then, as browsers refuse more than a few such requests at once.
    const leave = () => store.saveAll({ keepalive: true });
    addEventListener("pagehide", leave);
    load();
    return () => {
      removeEventListener("pagehide", leave);
      store.saveAll();
      clearTimeout(timer.current);
      end();
    };
  }, [id]);
  const connected = () => {
    store.saveAll();
    load();
  };
  // The scan of the page may have come or gone.
  useEvents({ page: refetch, line: refetch, pages: () => refetch({ page: id }), connected }, [id]);
  useEffect(() => {
    if (store.page) document.title = `${store.page.name} – ${folder} – drethtr`;
  }, [store.page?.name]);
  return { store, error, load, redraw };
}
