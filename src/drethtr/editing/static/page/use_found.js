// What a search has found on the page, and from one of its places to the next.

import * as api from "../api.js";
import { useEvents } from "../events.js";
import { percent } from "../format.js";
import { useLeast } from "../settings.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";
import { boxesFound, placesFound } from "./places.js";

// `asked` are the words that the address has, if any.
export function useFound(store, asked, { selectNext }, say) {
  const [words, setWords] = useState(asked);
  const [found, setFound] = useState([]);
  const [least] = useLeast();
  const { id } = store;
  const load = () =>
    words &&
    api.search(words, id).then(
      (answer) => setFound(answer.hits),
      (failed) => say(failed.message),
    );
  useEffect(() => setWords(asked), [asked]);
  useEffect(() => {
    load();
  }, [words]);
  useEvents({ page: ({ page }) => page === id && load() }, [words]);
  const hits = useMemo(
    () => found.filter(({ probability }) => words && (probability === undefined || 100 * probability >= least)),
    [found, words, least],
  );
  const lines = store.page?.lines ?? [];
  // Lines of the index are none of the page's as long as that is not read.
  const boxes = lines.length
    ? lines.flatMap((line) => boxesFound(hits, line))
    : hits.flatMap(({ box }) => (box ? [box] : []));

  const jump = (by) => {
    if (!words) {
      say("Words that you find on the first page are marked here.");
      return;
    }
    const next = selectNext((entry) => placesFound(hits, entry), by);
    if (!next) say(`No ${by > 0 ? "more" : "earlier"} places on this page.`);
    else if (next.hit.probability !== undefined) say(`${percent(next.hit.probability)} likely`);
  };
  return { words, hits, boxes, jump, end: () => setWords(null) };
}
