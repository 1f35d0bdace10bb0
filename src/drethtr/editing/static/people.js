// Who works where: a colored dot with initials for everybody else who has the folder open in another browser.

import * as api from "./api.js";
import { useEvents } from "./events.js";
import { html } from "./html.js";
import { keep, setting } from "./settings.js";
import { useEffect, useState } from "./vendor/hooks.js";

const BEAT = 20_000; // ms; the server forgets whoever is silent for a minute
const newId = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
const browser = setting("browser", null) ?? newId();
keep("browser", browser);
const me = `${browser} ${newId()}`; // this tab

// Reports where this person is, and returns where all others are, as {id, who, page, line}.
export function usePeople(page, line) {
  const [people, setPeople] = useState([]);
  useEffect(() => {
    const tell = () => api.here({ id: me, who: setting("name", ""), page, line }).then(setPeople, () => {});
    tell();
    const timer = setInterval(tell, BEAT);
    return () => clearInterval(timer);
  }, [page, line]);
  useEffect(() => {
    const leave = () => api.here({ id: me, who: "", page: null, line: null }, { keepalive: true }).catch(() => {});
    addEventListener("pagehide", leave);
    return () => removeEventListener("pagehide", leave);
  }, []);
  useEvents({ people: ({ people }) => setPeople(people) });
  return people.filter(({ id }) => !id.startsWith(`${browser} `));
}

const initials = (name) =>
  name
    .split(/\s+/u)
    .filter(Boolean)
    .map(([first]) => first.toUpperCase())
    .slice(0, 2)
    .join("") || "?";

// The same color for the same name, in all browsers.
const hue = (name) => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);

export function Dots({ people }) {
  if (!people.length) return null;
  return html`<span class="dots">${people.map(
    ({
      id,
      who,
    }) => html`<i key=${id} class="dot" style=${{ "--hue": hue(who) }} title=${`${who || "Somebody"} is here`}>${initials(who)}
      <span class="unseen"> ${who || "Somebody"} is here</span></i>`,
  )}</span>`;
}
