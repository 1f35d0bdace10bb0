// The words of a text and what the machine knows of them, however the text was changed since it was read.

// [{start, end, text}] of what stands between white space; places are UTF-16 offsets, as in DOM ranges.
export function wordsOf(text) {
  return [...text.matchAll(/\S+/gu)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
    text: found[0],
  }));
}

// The words of `text`, each with `read`: the word of the reading it still is, or null for one that a person wrote.
// Both are aligned by their longest common subsequence, so an insertion shifts no confidence to a neighbour.
export function spansOf(text, reading) {
  const words = wordsOf(text);
  const common = Array.from({ length: words.length + 1 }, () => new Uint16Array(reading.length + 1));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = reading.length - 1; j >= 0; j--) {
      common[i][j] =
        words[i].text === reading[j].text ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (let i = 0, j = 0; i < words.length; i++) {
    while (j < reading.length && words[i].text !== reading[j].text && common[i][j + 1] === common[i][j]) j++;
    const same = j < reading.length && words[i].text === reading[j].text;
    words[i].read = same ? reading[j++] : null;
  }
  return words;
}

// The spans that are less sure than `threshold`, each with its `confidence`.
export function doubtsOf(text, reading, threshold) {
  return spansOf(text, reading)
    .filter(({ read }) => read && read.confidence !== null && read.confidence < threshold)
    .map((span) => ({ ...span, confidence: span.read.confidence }));
}

// The part of `text` that differs from `other`, as [start, end] in both: the least that has to be replaced.
export function difference(text, other) {
  let start = 0;
  const least = Math.min(text.length, other.length);
  while (start < least && text[start] === other[start]) start++;
  let ends = 0;
  while (ends < least - start && text[text.length - 1 - ends] === other[other.length - 1 - ends]) ends++;
  if (start > 0 && isLowSurrogateAt(text, start)) start--;
  return { start, end: text.length - ends, otherEnd: other.length - ends };
}

const isLowSurrogateAt = (text, place) => /[\uDC00-\uDFFF]/.test(text[place] ?? "");

// `words` of a text, each with `changed`: whether another text lacks it at its place.
export function changedWords(text, other) {
  return spansOf(
    text,
    wordsOf(other).map((word) => ({ ...word, confidence: null })),
  ).map((span) => ({ ...span, changed: span.read === null }));
}

// The number of code points before a UTF-16 offset, and back.
export const codePoints = (text, offset) => [...text.slice(0, offset)].length;
export const utf16 = (text, points) => [...text].slice(0, points).join("").length;
