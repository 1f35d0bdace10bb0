// What a person has set, kept in this browser.

import { useEffect, useState } from "./vendor/hooks.js";

const PREFIX = "drethtr.setting.";
const watchers = new Set();

// What is set now, for code outside components.
export function setting(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A browser without storage forgets the setting; nothing else depends on it.
  }
}

// [value, set], shared by all components that use the name.
export function useSetting(name, fallback) {
  const [value, setValue] = useState(() => setting(name, fallback));
  useEffect(() => {
    const watch = (changed, to) => changed === name && setValue(to);
    watchers.add(watch);
    return () => watchers.delete(watch);
  }, [name]);
  const set = (to) => {
    keep(name, to);
    for (const watch of watchers) watch(name, to);
  };
  return [value, set];
}

// The lowest probability, in percent, of possible hits that are shown.
export const useLeast = () => useSetting("least", 10);

export const THEMES = ["auto", "light", "dark"];

// Applies the color scheme of a setting to the whole document.
export function showTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
