// Addresses of the screens: `/` is the overview, `/p/ID` a page, `/p/ID#LINE` a line on it.

import { useEffect, useState } from "./vendor/hooks.js";

function current() {
  const found = location.pathname.match(/^\/p\/([^/]+)$/);
  return {
    page: found ? decodeURIComponent(found[1]) : null,
    line: decodeURIComponent(location.hash.slice(1)) || null,
  };
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
      if (link.origin !== location.origin || !/^\/(p\/[^/]+)?$/.test(link.pathname)) return;
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
