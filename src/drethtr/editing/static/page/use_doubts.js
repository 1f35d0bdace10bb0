// From doubt to doubt, over the pages; and where the caret is when a page is opened.

import { leftSaid, percent } from "../format.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { select } from "./caret.js";
import { doubtsIn } from "./line.js";
import { placeWanted } from "./places.js";
import { textOf } from "./use_cursor.js";

let isSeeking = false; // from the last doubt of a page to the first one of the next page

// `wanted` is what the address asks for. Returns what jumps by 1 or -1: the doubtful word is selected, to be typed over.
export function useDoubts(store, { active, selectNext, leave, rest }, { threshold, left }, wanted, say) {
  const [isArriving, setArriving] = useState(isSeeking);
  const jump = (by, isFirst = false) => {
    const next = selectNext((entry) => doubtsIn(entry, threshold), by, isFirst);
    const seek = () => {
      isSeeking = true;
    };
    if (next)
      say(`Look at “${next.text}”, confidence ${percent(next.confidence)}`, true); // as the word shows it
    else if (by > 0) leave(`No more words to look at on this page; ${leftSaid(left)}.`, "F2", seek);
    else say("No earlier marked words on this page.");
  };
  const { order } = store;
  useEffect(() => {
    isSeeking = false;
  }, []);
  useEffect(() => {
    if (!order.length) return;
    const entry = store.entries.get(wanted.line);
    if (isArriving) {
      setArriving(false);
      jump(1, true);
      return;
    }
    rest(true);
    if (entry) {
      const { start, end } = placeWanted(entry.line, entry.text, wanted);
      select(textOf(wanted.line), start, end);
    } else if (!active) select(textOf(order[0].line.id), 0);
  }, [order.length > 0]);
  return jump;
}
