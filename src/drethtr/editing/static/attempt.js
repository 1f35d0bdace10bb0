// What a person asks for, and why it failed.

import { useState } from "./vendor/hooks.js";

// [why the last attempt failed, a function that waits for an attempt]
export function useAttempt() {
  const [error, setError] = useState(null);
  const attempt = (call) =>
    call.then(
      () => setError(null),
      (failed) => setError(failed.message),
    );
  return [error, attempt];
}
