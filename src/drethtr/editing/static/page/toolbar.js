// A row of buttons that is one stop of the Tab key: arrow keys go from button to button, Escape back to the text.

import { html } from "../html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

// `entered` is a new object each time the keyboard is to go there.
export function Toolbar({ label, kind, entered, back, children }) {
  const row = useRef();
  const last = useRef(null); // the button that Tab reaches
  const buttons = () => [...row.current.querySelectorAll("button")];
  const mark = (chosen) => {
    last.current = chosen;
    for (const button of buttons()) button.tabIndex = button === chosen ? 0 : -1;
  };
  useLayoutEffect(() => {
    const all = buttons();
    mark(all.includes(last.current) ? last.current : all[0]);
  });
  // Before the screen is painted: the next key of a fast typist is for the row already.
  useLayoutEffect(() => {
    if (entered) buttons()[0].focus();
  }, [entered]);
  const keys = (event) => {
    const all = buttons();
    const here = all.indexOf(document.activeElement);
    const next = {
      ArrowRight: () => all[(here + 1) % all.length],
      ArrowLeft: () => all.at(here - 1),
      ArrowDown: () => beyond(all, all[here], 1),
      ArrowUp: () => beyond(all, all[here], -1),
      Home: () => all[0],
      End: () => all.at(-1),
    }[event.key];
    if (event.key === "Escape") back();
    if (!next || here < 0) return;
    event.preventDefault();
    next().focus();
  };
  return html`<div class=${kind} role="toolbar" aria-label=${label} ref=${row} onKeyDown=${keys}
    onFocusIn=${(event) => buttons().includes(event.target) && mark(event.target)}>${children}</div>`;
}

// The button nearest to one of them in the next row of the window, or that one itself.
function beyond(all, from, by) {
  const far = (button) =>
    100 * by * (button.offsetTop - from.offsetTop) + Math.abs(button.offsetLeft - from.offsetLeft);
  const others = all.filter((button) => by * (button.offsetTop - from.offsetTop) > from.offsetHeight / 2);
  return others.reduce((nearest, button) => (far(button) < far(nearest) ? button : nearest), others[0] ?? from);
}
