// Which key does what, in the text of a line and anywhere on the screen of a page.

import { useEffect, useRef } from "../vendor/hooks.js";
import { caretIn, isAtEdge } from "./caret.js";
import { textOf } from "./use_cursor.js";

// What a key does by this table: [a test of the event, an action].
function act(event, table) {
  const found = table.find(([is]) => is(event));
  if (!found) return;
  event.preventDefault();
  found[1](event);
}

// On a Mac, Option and a letter or digit type a character; with AltGr they do so elsewhere, which some systems report as
// Ctrl and Alt together. Neither may do anything else, so the Mac's key for all this is Ctrl.
const isMac = /^(Mac|iP)/.test(navigator.platform);
export const keyName = (key) => (isMac ? key.replaceAll(/Alt\+(?!↓|Page)/g, "Ctrl+") : key);
export const isAlt = (event) =>
  isMac
    ? event.ctrlKey && !event.altKey && !event.metaKey
    : event.altKey && !event.ctrlKey && !event.metaKey && !event.getModifierState("AltGraph");

// A ref for what takes the keys that are pressed anywhere on a screen, also where nothing has the focus; but not those in
// a dialog, where a click beside its controls, or a button that becomes disabled, leaves the focus to the body.
export function useKeys() {
  const press = useRef();
  useEffect(() => {
    const listener = (event) => !document.querySelector("dialog[open]") && press.current?.(event);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);
  return press;
}

const by = (event) => (event.shiftKey ? -1 : 1);
const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;
const alt = (code) => (event) => isAlt(event) && event.code === code;
const func = (key) => (event) => event.key === key && !event.altKey;

export function lineKeys(event, id, { store, step, on }) {
  if (event.isComposing) return;
  const place = store.order.findIndex(({ line }) => line.id === id);
  const vertical = (key, way) => [
    (pressed) =>
      pressed.key === key &&
      isPlain(pressed) &&
      !pressed.shiftKey &&
      store.order[place + way] &&
      isAtEdge(textOf(id), way < 0),
    () => step(id, way, Math.min(caretIn(textOf(id)), store.order[place + way].text.length)),
  ];
  act(event, [
    [({ key, altKey }) => key === "ArrowDown" && altKey, () => on.ask(id)],
    [({ key, ctrlKey, metaKey }) => key === "Enter" && !ctrlKey && !metaKey, () => on.saveAndGo(id, by(event))],
    [
      (pressed) => isAlt(pressed) && /^Digit[1-4]$/.test(pressed.code),
      () => on.alternative(id, Number(event.code.at(-1)) - 1),
    ],
    [alt("Digit0"), () => on.afresh(id)],
    [alt("KeyT"), () => (event.shiftKey ? on.takeLine : on.take)(id)],
    [alt("KeyO"), () => on.keep(id)],
    vertical("ArrowUp", -1),
    vertical("ArrowDown", 1),
  ]);
}

export function screenKeys(event, on) {
  if (event.isComposing) return;
  act(event, [
    [
      ({ key, ctrlKey, metaKey }) => key === "Enter" && (ctrlKey || metaKey),
      // Once, however long it is held: nobody has looked at the lines that follow.
      () => event.repeat || (event.shiftKey ? on.confirmPage() : on.confirm()),
    ],
    [func("F2"), () => on.doubt(by(event))],
    [func("F3"), () => on.word(by(event))],
    [func("F4"), () => on.difference(by(event))],
    [func("F8"), () => on.found(by(event))],
    [func("F9"), on.closer],
    [({ altKey, key }) => altKey && key === "PageDown", () => on.turn("next")],
    [({ altKey, key }) => altKey && key === "PageUp", () => on.turn("previous")],
    [alt("KeyC"), on.characters],
    [alt("KeyL"), on.layout],
    [alt("KeyG"), on.tag],
    [alt("KeyP"), on.proofread],
    [({ key }) => key === "Escape" && on.cancel, () => on.cancel()],
  ]);
}
