// A message that stays as long as it takes to read.

import { useEffect, useState } from "../vendor/hooks.js";

const MESSAGE = 5000; // ms
const LETTER = 80; // ms more for each of its letters

// [what is said, a function that says it]
export function useSaid() {
  const [said, say] = useState("");
  useEffect(() => {
    const fade = setTimeout(() => say(""), MESSAGE + LETTER * said.length);
    return () => clearTimeout(fade);
  }, [said]);
  return [said, say];
}
