// What a search has found on the page, and from one of its places to the next, over the pages.

import * as api from "../api.js";
import { useEvents } from "../events.js";
import { counted, percent } from "../format.js";
import { go } from "../route.js";
import { useLeast } from "../settings.js";
import { useEffect, useMemo, useReducer, useState } from "../vendor/hooks.js";
import { boxesFound, placesFound } from "./places.js";

const NONE = { hits: [], total: 0 };
let seeking = null; // {by, list}: from the last place of a page to the first one of the next page, or back

// `asked` are the words that the address has, if any.
export function useFound(store, asked, { active, selectNext }, say) {
  const [words, setWords] = useState(asked);
  const [found, setFound] = useState([]);
  const [arriving, setArriving] = useState(seeking);
  const [list, setList] = useState(seeking?.list ?? NONE); // what the search has found in the folder
  const [least] = useLeast();
  const { id, order } = store;
  const [changes, change] = useReducer((count) => count + 1, 0); // of the page
  // Nobody waits for an answer about other words, or about the page before a change.
  const ask = (page, show, fail) => {
    const left = new AbortController();
    const unlessLeft = (act) => (told) => left.signal.aborted || act(told);
    if (words) api.search(words, page, left.signal).then(unlessLeft(show), unlessLeft(fail));
    return () => left.abort();
  };
  useEffect(() => setWords(asked), [asked]);
  const fail = ({ message }) => say(message);
  useEffect(() => ask(id, (answer) => setFound(answer.hits), fail), [words, changes]);
  useEffect(() => {
    seeking = null;
    return arriving ? undefined : ask(null, setList, () => setList(NONE));
  }, [words]);
  useEvents({ page: ({ page }) => page === id && change(), connected: change });
  const isShown = ({ probability }) => words && (probability === undefined || 100 * probability >= least);
  const hits = useMemo(() => found.filter(isShown), [found, words, least]);
  const pages = useMemo(() => [...new Set(list.hits.filter(isShown).map(({ page }) => page))], [list, words, least]);
  const here = pages.indexOf(id);
  const lines = store.page?.lines ?? [];
  // Lines of the index are none of the page's as long as that is not read.
  const boxes = lines.length
    ? lines.flatMap((line) => boxesFound(hits, line))
    : hits.flatMap(({ box }) => (box ? [box] : []));

  const jump = (by, isArriving = false) => {
    if (!words) {
      say("Search in the overview; the words that you find there are marked here.");
      return;
    }
    const next = selectNext((entry) => placesFound(hits, entry), by, isArriving);
    const other = here < 0 ? null : pages[here + by];
    if (next) {
      if (next.hit.probability !== undefined) say(`${percent(next.hit.probability)} likely`);
    } else if (!other && by > 0 && list.total > list.hits.length)
      say(`No more places in the first ${counted(list.hits.length, "line")} found.`);
    else if (!other) say(`No ${by > 0 ? "more" : "earlier"} places.`);
    else if (!isArriving) {
      seeking = { by, list };
      go(`/p/${other}?${new URLSearchParams({ find: words })}`);
    }
  };
  useEffect(() => {
    if (!arriving || !hits.length || !order.length) return;
    setArriving(null);
    jump(arriving.by, true);
  }, [hits.length > 0, order.length > 0]);
  const own = order.filter(({ line }) => hits.some((hit) => hit.line === line.id));
  const at = own.findIndex(({ line }) => line.id === active);
  const place = [
    at >= 0 && `line ${at + 1} of ${own.length}`,
    here >= 0 && pages.length > 1 && `page ${here + 1} of ${pages.length}${list.total > list.hits.length ? "+" : ""}`,
  ];
  return { words, hits, boxes, place, isAlone: pages.length < 2, jump, end: () => setWords(null) };
}
