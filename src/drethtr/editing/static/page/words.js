// The words of a text with their confidences and boxes, however the text was changed since it was read.

// [{start, end, text}] of what stands between white space; places are UTF-16 offsets, as in DOM ranges.
export function wordsOf(text) {
  return [...text.matchAll(/\S+/gu)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
    text: found[0],
  }));
}

// A passage of `text` without the white space and punctuation at its ends: a person is named "Anna", not "Anna,". A
// period stays, as it may belong to an abbreviation.
export function withoutMarks(text, from, to) {
  const passage = text.slice(from, to);
  const left = passage.search(/[^\s,;:!?()[\]"'„“”‚‘’«»]/u);
  if (left < 0) return [from, to];
  return [from + left, from + passage.replace(/[\s,;:!?()[\]"'„“”‚‘’«»]+$/u, "").length];
}

// For each of `words` the place in `others` of the word that it is, or -1; places ascend. Both are aligned by their
// longest common subsequence, so an insertion shifts nothing to a neighbor. `isAlike` tells which texts are the same
// besides equal ones.
function matches(words, others, isAlike = () => false) {
  const isSame = (one, other) => one.text === other.text || isAlike(one.text, other.text);
  const common = Array.from({ length: words.length + 1 }, () => new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      common[i][j] = isSame(words[i], others[j])
        ? common[i + 1][j + 1] + 1
        : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  let j = 0;
  return words.map((word, i) => {
    while (j < others.length && !isSame(word, others[j]) && common[i][j + 1] === common[i][j]) j++;
    return j < others.length && isSame(word, others[j]) ? j++ : -1;
  });
}

// The words of `text`, each with `read`: the word of the reading it still is, or null for one that a person wrote.
export function spansOf(text, reading) {
  const words = wordsOf(text);
  const places = matches(words, reading);
  return words.map((word, place) => ({ ...word, read: reading[places[place]] ?? null }));
}

// Where two texts differ, in stretches of whole words: [{start, end, text}] of the first, which is empty where it lacks
// words, each with `theirs`, the words there of the other one, and `first` and `last`, their places among its words.
// `isAlike` as in `matches`; a word that is like "" may be missing.
export function differencesOf(text, other, isAlike = () => false) {
  const [words, others] = [wordsOf(text), wordsOf(other)];
  const found = [];
  let [start, first] = [0, 0];
  const close = (end, last) => {
    const isLike = words.slice(start, end).every((word) => isAlike(word.text, ""));
    if (isLike && others.slice(first, last).every((word) => isAlike("", word.text))) return;
    const at = words[start]?.start ?? text.length;
    const [from, to] = start === end ? [at, at] : [at, words[end - 1].end];
    const theirs = first === last ? "" : other.slice(others[first].start, others[last - 1].end);
    found.push({ start: from, end: to, text: text.slice(from, to), theirs, first, last });
  };
  matches(words, others, isAlike).forEach((place, number) => {
    if (place < 0) return;
    close(number, place);
    [start, first] = [number + 1, place + 1];
  });
  close(words.length, others.length);
  return found;
}

// The spans with less confidence than `threshold`, each with its `confidence`.
export function doubtsOf(text, reading, threshold) {
  return spansOf(text, reading)
    .filter(({ read }) => read && read.confidence !== null && read.confidence < threshold)
    .map((span) => ({ ...span, confidence: span.read.confidence }));
}

// Which words to look at: the least certain ones, as many as are expected to hold the `wanted` share of the errors. Returns
// the confidence below which words are marked, the share of words that are, and the share of errors they should hold.
export function marking(lines, wanted) {
  const sure = lines.flatMap(({ words }) => words.map(({ confidence }) => confidence)).filter((one) => one !== null);
  sure.sort((one, other) => one - other);
  const errors = sure.reduce((sum, confidence) => sum + 1 - confidence, 0);
  let [count, found] = [0, 0];
  while (count < sure.length && found < wanted * errors) found += 1 - sure[count++];
  const last = sure[count - 1] ?? 0;
  while (sure[count] === last && count) found += 1 - sure[count++]; // also those equal to the last one
  const threshold = count < sure.length ? (last + sure[count]) / 2 : Math.min(1, last + 0.001);
  return { threshold: count ? threshold : 0, look: count / (sure.length || 1), found: found / (errors || 1) };
}

// How many words are probably wrong among those that are not marked.
export function leftOver(text, reading, threshold) {
  const sure = spansOf(text, reading).filter(({ read }) => read && read.confidence !== null);
  return sure.reduce((sum, { read }) => sum + (read.confidence < threshold ? 0 : 1 - read.confidence), 0);
}

const letters = new Intl.Segmenter();

// The part of `text` that differs from `other`, as [start, end] in both: the least number of letters that has to be replaced. A
// letter is replaced with the marks that stand on it: browsers insert no half of one.
export function difference(text, other) {
  const [own, others] = [text, other].map((one) => [...letters.segment(one)].map(({ segment }) => segment));
  const least = Math.min(own.length, others.length);
  let start = 0;
  while (start < least && own[start] === others[start]) start++;
  let ends = 0;
  while (ends < least - start && own.at(-1 - ends) === others.at(-1 - ends)) ends++;
  const length = (same) => same.join("").length;
  const same = length(own.slice(own.length - ends));
  return { start: length(own.slice(0, start)), end: text.length - same, otherEnd: other.length - same };
}

// `text` with their words in a difference, as `differencesOf` finds it, in the place of ours.
export function taken(text, { start, end, theirs }) {
  const [before, after] = [text.slice(0, start).trimEnd(), text.slice(end).trimStart()];
  return [before, theirs, after].filter(Boolean).join(" ");
}

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
