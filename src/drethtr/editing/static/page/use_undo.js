// Ctrl+Z in the text: the browser's own undo while it has something to undo, then the steps of the page's history.

import * as api from "../api.js";
import { useRef } from "../vendor/hooks.js";

// Returns what takes a key, and tells whether it was one of these.
export function useUndo(store, { enter }, attempt) {
  const last = useRef(Promise.resolve()); // step, after which comes the next
  const back = (call, done) => {
    const step = async () => {
      const [changed] = await store.step(() => call(store.id));
      if (store.entries.has(changed)) enter(changed);
      return done;
    };
    last.current = last.current.then(() => attempt(step));
  };
  return (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !(key === "z" || (key === "y" && !event.shiftKey)))
      return false;
    if (event.target.closest("input:not([type=range]), textarea")) return false; // they take back their own typing
    const isRedo = key === "y" || event.shiftKey;
    const run = () => (isRedo ? back(api.redo, "Done again.") : back(api.undo, "Undone."));
    if (!event.target.closest(".text")) {
      event.preventDefault();
      run();
      return true;
    }
    // Whether the browser's own undo has anything to take back cannot be asked. It fires an input event at once if so,
    // perhaps in another line; if none has come by the next turn of the event loop, the step is ours.
    let isOurs = true;
    const did = ({ inputType }) => {
      if (inputType?.startsWith("history")) isOurs = false;
    };
    addEventListener("input", did, { once: true });
    setTimeout(() => {
      removeEventListener("input", did);
      if (isOurs) run();
    });
    return true;
  };
}
