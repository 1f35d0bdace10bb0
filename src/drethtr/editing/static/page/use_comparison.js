// Comparing a page with a text, as its screen does it: begin, go from difference to difference, decide, end.

import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { caretIn, replace } from "./caret.js";
import { compareWith, saying } from "./comparison.js";
import { placeAt } from "./jumps.js";
import { taken } from "./words.js";

let kept = null; // the text, for the next pages

// `selectNext` selects the next place of those that a function finds in each line; `say` tells a message.
export function useComparison(store, { selectNext, textOf, say, redraw }) {
  const [comparison, setComparison] = useState(null);
  const [isChoosing, setChoosing] = useState(false); // a text to compare with
  const isNew = useRef(false);
  const lines = store.order.length;

  // The text of the page before, or that of this one when its lines have changed.
  useEffect(() => {
    if (!lines || !kept) return;
    const [text, decided] = [kept, comparison?.kept];
    compareWith(store.id, text).then(
      (again) => {
        if (kept !== text) return; // it was ended meanwhile, or another one begun
        again.kept = decided ?? again.kept;
        setComparison(again);
      },
      (failed) => say(failed.message),
    );
  }, [lines]);
  useEffect(() => {
    if (comparison && isNew.current) jump(1, true);
    isNew.current = false;
  }, [comparison]);

  const choose = () => setChoosing(true);
  const jump = (by, isArriving) => {
    if (!comparison) {
      choose();
      return;
    }
    const next = selectNext((entry) => comparison.differences(entry), by, isArriving);
    say(next ? saying(next) : `No ${by > 0 ? "more" : "earlier"} differences on this page.`);
  };
  // Decides the difference at the caret, and goes to the next one.
  const settle = (id, decide) => {
    const entry = store.entries.get(id);
    const difference = placeAt(comparison?.differences(entry) ?? [], caretIn(textOf(id)) ?? 0);
    if (!difference) return;
    decide(entry, difference);
    redraw();
    jump(1);
  };
  return {
    comparison,
    isChoosing,
    choose,
    jump,
    unchoose: () => setChoosing(false),
    begin: (compared) => {
      isNew.current = true;
      kept = compared.text;
      setChoosing(false);
      setComparison(compared);
    },
    end: () => {
      kept = null;
      setComparison(null);
    },
    on: {
      take: (id) => settle(id, (entry, difference) => replace(textOf(id), taken(entry.text, difference))),
      keep: (id) => settle(id, (_, difference) => comparison.keepOurs(id, difference)),
      takeLine: (id) => settle(id, () => replace(textOf(id), comparison.theirs(id))),
    },
  };
}
