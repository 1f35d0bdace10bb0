// The caret: in which line it is and where, and how it gets from place to place.

import { go } from "../route.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { caretIn, select } from "./caret.js";
import { nextOf } from "./jumps.js";
import { offsetAt } from "./places.js";

export const textOf = (id) => document.querySelector(`[data-line="${CSS.escape(id)}"] .text`);

export const turn = (page) => page && go(`/p/${page}`);

// `said` is the message that is shown, `say` shows one.
export function useCursor(store, said, say) {
  const [active, setActive] = useState(null);
  const [entered, setEntered] = useState(null); // {line, offset} that became active without a key or click in its text
  const [caret, setCaret] = useState(null);
  const [isResting, rest] = useState(false); // where it was put when the page was opened, until a key or a click
  const { order } = store;

  const follow = () => {
    const element = document.activeElement?.closest(".text");
    if (element) setCaret(caretIn(element));
  };
  useEffect(() => {
    document.addEventListener("selectionchange", follow);
    return () => document.removeEventListener("selectionchange", follow);
  }, []);
  useEffect(() => {
    const wake = () => rest(false);
    addEventListener("keydown", wake);
    addEventListener("pointerdown", wake);
    return () => {
      removeEventListener("keydown", wake);
      removeEventListener("pointerdown", wake);
    };
  }, []);

  // The caret is where it was in the text.
  const back = () => {
    const element = active && textOf(active);
    if (element && document.activeElement !== element) select(element, caret ?? 0);
  };
  // Makes a line the active one; what is typed next goes there, if it went to another line or what had the focus is gone.
  const enter = (line) => {
    setActive(line);
    setEntered({ line, offset: line === active ? (caret ?? 0) : 0 });
  };
  useEffect(() => {
    const element = entered?.line && textOf(entered.line);
    const focused = document.activeElement;
    if (element && focused !== element && (focused === document.body || focused.closest(".text")))
      select(element, entered.offset);
  }, [entered]);

  // At the end of the page, says so; the same key once more goes to the next page.
  const leave = (told, key, prepare) => {
    const { next } = store.page;
    const message = next ? `${told} ${key} again goes to the next page.` : told;
    if (next && said === message) {
      prepare?.();
      turn(next);
    } else say(message);
  };
  const step = (from, by, offset = 0) => {
    const place = order.findIndex(({ line }) => line.id === from) + by;
    if (order[place]) select(textOf(order[place].line.id), offset);
    else if (by > 0) leave("This is the last line of the page.", "Enter");
    else say("This is the first line of the page.");
  };
  // Selects the next or previous of the places that `placesIn` finds in the text of each line; of a page at which one
  // arrives, the first or last one.
  const selectNext = (placesIn, by, isArriving) => {
    const places = order.flatMap((other, line) => placesIn(other).map((place) => ({ ...place, line, other })));
    const line = order.findIndex((other) => other.line.id === active);
    const isOutside = isArriving || line < 0;
    const next = nextOf(places, isOutside ? null : { line, offset: caretIn(textOf(active)) ?? -1 }, by);
    if (next) {
      const element = textOf(next.other.line.id);
      select(element, next.start, next.end);
      element.closest(".line").scrollIntoView({ block: "nearest" });
    }
    return next;
  };
  // To what is written at a point of the scan.
  const goTo = (id, point) => {
    const { line, text } = store.entries.get(id);
    select(textOf(id), offsetAt(line, text, point));
  };
  return { active, setActive, enter, caret, setCaret, isResting, rest, follow, back, leave, step, selectNext, goTo };
}
