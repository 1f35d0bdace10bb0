// Somebody else's text beside a page: its part on each line, where it differs, and what the ink does not support.

import * as api from "../api.js";
import { differencesOf } from "./words.js";

// `text` is {name, content, allow}. Throws what `api.compare` throws.
export const compareWith = async (page, text) => new Comparison(text, await api.compare(page, text));

export class Comparison {
  constructor(text, { lines, left }) {
    this.text = text;
    this.left = left;
    this.lines = new Map(lines.map((line) => [line.line, line]));
    this.kept = new Set(); // differences in which ours shall stand
  }

  get name() {
    return this.text.content instanceof File ? this.text.name : "the pasted text";
  }

  // Whether a word of ours and one of theirs, or none ("") on one side, differ only as is allowed.
  isAlike(id, ours, theirs) {
    return this.lines.get(id).alike.some(([word, other]) => word === theirs && other === ours);
  }

  // The part of the text on a line; null if there is none.
  theirs(id) {
    return this.lines.get(id)?.theirs ?? null;
  }

  lacks(id) {
    return this.lines.get(id)?.theirs === null;
  }

  // The differences of a line that nobody has decided, as `differencesOf`, each with the `doubts` about their words.
  differences({ line, text }) {
    const theirs = this.theirs(line.id);
    if (theirs === null) return [];
    return differencesOf(text, theirs, (word, other) => this.isAlike(line.id, word, other))
      .filter((one) => !this.kept.has(keyOf(line.id, one)))
      .map((one) => ({ ...one, doubts: this.doubts(line.id, one.first, one.last) }));
  }

  // What the ink does not support of their words from `first` to before `last`, and what it has beside them.
  doubts(id, first, last) {
    let place = 0;
    return (this.lines.get(id)?.words ?? []).filter((word) => {
      const here = place;
      if (word.text) place++;
      if (word.kind === "supported") return false;
      return word.text ? here >= first && here < last : here >= first && here <= last;
    });
  }

  // Whether the ink does not support a word of theirs, by its place, or has more before it.
  isDoubted(id, place) {
    return this.doubts(id, place, place + 1).some(({ text }) => text);
  }

  isShort(id, place) {
    return this.doubts(id, place, place).length > 0;
  }

  keepOurs(id, difference) {
    this.kept.add(keyOf(id, difference));
  }
}

const keyOf = (id, { first, last, text, theirs }) => JSON.stringify([id, first, last, text, theirs]);

// A difference in words, for people who do not see it.
export function saying({ text, theirs, doubts }) {
  const side = (words) => (words ? `“${words}”` : "nothing");
  const reasons = doubts.map((word) =>
    word.text ? `${word.text.replace(/[.,;:]$/, "")}: ${word.reason}` : word.reason,
  );
  return [`Ours ${side(text)}, theirs ${side(theirs)}`, ...reasons].join(". ");
}
