// A message that stays as long as it takes to read.

import { useEffect, useState } from "../vendor/hooks.js";

const MESSAGE = 5000; // ms
const LETTER = 80; // ms more for each of its letters

// [what is said, a function that says it, whether only to screen readers]
export function useSaid() {
  const [{ said, isUnseen }, set] = useState({ said: "" });
  const say = (text, isUnseen = false) => set({ said: text, isUnseen });
  useEffect(() => {
    const fade = setTimeout(() => say(""), MESSAGE + LETTER * said.length);
    return () => clearTimeout(fade);
  }, [said]);
  return [said, say, isUnseen];
}

// Does some work, and says what that returns or why it failed; if somebody else has changed the same, `load` shows it.
export const attempting = (say, load) => async (work) => {
  try {
    say(await work());
  } catch (failed) {
    say(failed.message);
    if (failed.status === 409) load();
  }
};
