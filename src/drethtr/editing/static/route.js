// Addresses of the screens: `/` is the overview, `/p/ID` a page, `/p/ID/layout` its layout, `/p/ID#LINE` a line on it. In
// the line, `?range=4-9` selects characters, and `?point=812,640` the word at a point of the scan. `?find=dear sir` marks
// all places of the page where these words were found, and `?hints=1` shows the first steps.

import { middleOf } from "./page/places.js";
import { useEffect, useState } from "./vendor/hooks.js";

function current() {
  const found = location.pathname.match(/^\/p\/([^/]+)(\/layout)?$/);
  const asked = new URLSearchParams(location.search);
  return {
    page: found ? decoded(found[1]) : null,
    isLayout: Boolean(found?.[2]),
    line: decoded(location.hash.slice(1)) || null,
    range: numbers(asked.get("range"), "-"),
    point: numbers(asked.get("point"), ","),
    find: asked.get("find"),
    hasHints: asked.has("hints"),
  };
}

// A part of an address; one that was cut off or typed may be no valid code.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const numbers = (text, between) => text?.split(between).map(Number) ?? null;

// The address of a line in which a search has found words.
export function pathOfHit({ page, line, ranges: [range], box }, words) {
  const asked = new URLSearchParams({ find: words });
  if (range) asked.set("range", range.join("-"));
  else if (box) asked.set("point", middleOf(box).join());
  return `/p/${page}?${asked}#${encodeURIComponent(line)}`;
}

export function go(path) {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}

export function useRoute() {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const follow = () => setRoute(current());
    // Links lead to another screen without reloading the page, unless they are opened elsewhere or downloads.
    const click = (event) => {
      const link = event.target.closest("a[href]");
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("download"))
        return;
      if (link.origin !== location.origin || !/^\/(p\/[^/]+(\/layout)?)?$/.test(link.pathname)) return;
      event.preventDefault();
      go(link.href);
    };
    addEventListener("popstate", follow);
    document.addEventListener("click", click);
    return () => {
      removeEventListener("popstate", follow);
      document.removeEventListener("click", click);
    };
  }, []);
  return route;
}
