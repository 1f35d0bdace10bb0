// The screen of a page: the scan and its text side by side.

import * as api from "../api.js";
import { Compare } from "../dialogs/compare.js";
import { History } from "../dialogs/history.js";
import { counted, isLayoutDoubtful, leftSaid, percent, UNKNOWN_HAND, wrongWords } from "../format.js";
import { html } from "../html.js";
import { go } from "../route.js";
import { useSetting } from "../settings.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { replace, selectionIn } from "./caret.js";
import { Orphans } from "./conflict.js";
import { Divider } from "./divider.js";
import { Empty } from "./empty.js";
import { Found } from "./found.js";
import { keyName, lineKeys, screenKeys, useKeys } from "./keys.js";
import { doubtsIn, Line } from "./line.js";
import { LineBar } from "./line_bar.js";
import { Palette } from "./palette.js";
import { boxOfLine } from "./places.js";
import { Scan } from "./scan.js";
import { Tags } from "./tags.js";
import { Compared } from "./theirs.js";
import { useComparison } from "./use_comparison.js";
import { textOf, turn, useCursor } from "./use_cursor.js";
import { useDoubts } from "./use_doubts.js";
import { useFound } from "./use_found.js";
import { useReading } from "./use_reading.js";
import { attempting, useSaid } from "./use_said.js";
import { useStore } from "./use_store.js";
import { useUndo } from "./use_undo.js";
import { leftOver, marking, withoutMarks, wordsOf } from "./words.js";

export function Page({ id, status, wanted, isReading, people, onLine, toolbar }) {
  const { store, error, load, redraw } = useStore(id, status);
  const [said, say, isUnseen] = useSaid();
  const attempt = attempting(say, load);
  const cursor = useCursor(store, said, say);
  const [share, setShare] = useSetting("find", 0.7); // of the errors
  const lines = store.order.length;
  // Chosen once: while words are corrected, the marks of the others stay.
  const { threshold, look, found } = useMemo(() => marking(store.page?.lines ?? [], share), [id, share, lines]);
  const unconfirmed = store.order.filter(({ line }) => line.status !== "confirmed");
  const isKnown =
    !unconfirmed.length || unconfirmed.some(({ line }) => line.words.some((word) => word.confidence !== null));
  const left = isKnown
    ? unconfirmed.reduce((sum, { text, line }) => sum + leftOver(text, line.words, threshold), 0)
    : null;
  const jump = useDoubts(store, cursor, { threshold, left }, wanted, say);
  const comparing = useComparison(store, { selectNext: cursor.selectNext, textOf, say, redraw });
  const search = useFound(store, wanted.find, cursor, say);
  const reading = useReading(store, attempt, load);
  const undoKeys = useUndo(store, cursor, attempt);
  const [entered, setEntered] = useState(null); // {row}, a row of buttons that the keyboard is to go to, until it is in the text
  const [history, setHistory] = useState(null);
  const [passage, setPassage] = useState(null); // {line, places}: what is to be tagged
  const [restored, restore] = useState(null); // {line, text} from the history
  const [hasPalette, setPalette] = useSetting("palette", false);
  const [isProofread, setProofread] = useSetting("proofread", false);
  const [scanShare, setScanShare] = useSetting("scan-share", 50);
  const [closer, setCloser] = useState(isProofread ? { to: "lines" } : null);
  const [choice, setChoice] = useState(null); // {line, start, isOpen}: alternatives that were asked for or closed
  const list = useRef();
  const room = useRoom(list, lines);
  const chosen = useRef(null); // takes an alternative of the word at the caret

  const press = useKeys();
  useEffect(() => onLine(cursor.active), [cursor.active]);
  // The special characters cover the lower end of the text.
  useEffect(() => {
    if (cursor.active) textOf(cursor.active)?.scrollIntoView({ block: "nearest" });
  }, [hasPalette]);
  // Only when the dialog is gone can the text behind it be changed.
  useEffect(() => {
    if (restored) replace(textOf(restored.line), restored.text);
  }, [restored]);

  if (error && !store.page)
    return html`${toolbar({})}<main class="notice"><h1>This page cannot be shown</h1><p>${error}</p><p><a href="/">All pages</a></p></main>`;
  if (!store.page)
    return html`${toolbar({})}<main class="page waiting" aria-busy="true"><i class="skeleton" /><i class="skeleton" /></main>`;
  const { page, order } = store;
  const hasScan = page.width > 0;
  const isReadOnly = status.role === "read";
  const { active, caret, follow, back, step } = cursor;
  const { comparison } = comparing;
  const entry = store.entries.get(active) ?? null;
  // A line that waits to be read may show its earlier text in gray, which is not what would be confirmed. Other lines
  // are left empty on purpose.
  const isToRead = (line) => {
    const { text, line: known } = store.entries.get(line) ?? {};
    const isEmpty = known?.status === "unread" && !text.trim();
    const isSo = isEmpty && known.strip && (isReading || page.status === "unread");
    if (isSo) say("This line is not read yet; wait until it is, choose Read again, or type its text.");
    return isSo;
  };
  const doubts = order.reduce((sum, other) => sum + doubtsIn(other, threshold).length, 0);
  const confirmed = order.filter(({ line }) => line.status === "confirmed").length;

  const on = {
    ...comparing.on,
    focus: (line) => {
      cursor.setActive(line);
      setEntered(null);
      if (line !== passage?.line) setPassage(null);
    },
    caret: (line, offset) => line === active && cursor.setCaret(offset),
    strip: (line, part) => {
      const [left, top, right, bottom] = boxOfLine(store.entries.get(line).line);
      cursor.goTo(line, [left + part * (right - left), (top + bottom) / 2]);
    },
    key: (event, line) => isReadOnly || lineKeys(event, line, { store, step, on }),
    saveAndGo: (line, by) => {
      store.save(line);
      step(line, by);
    },
    confirm: (line) => {
      if (isToRead(line)) return;
      const { state, line: known } = store.entries.get(line);
      store.save(line, known.status === "confirmed" && state === "clean" ? "corrected" : "confirmed");
    },
    confirmAndGo: (line) => {
      if (isToRead(line)) return;
      store.save(line, "confirmed");
      step(line, 1);
    },
    confirmPage: () =>
      attempt(async () => {
        await store.saveAll();
        const clean = order.filter(({ state }) => state === "clean").map(({ line }) => [line.id, line.revision]);
        const confirmed = await api.confirm([id], Object.fromEntries(clean));
        load();
        return `${counted(confirmed, "line")} confirmed.`;
      }),
    // Puts texts into as many lines from this one on, if all of them are empty.
    paste: (line, texts) => {
      const from = order.findIndex((one) => one.line.id === line);
      const lines = order.slice(from, from + texts.length);
      if (lines.length < texts.length || lines.some(({ text }) => text)) return false;
      for (const [place, { line: empty }] of lines.entries()) {
        store.type(empty.id, texts[place]);
        store.save(empty.id);
      }
      return true;
    },
    alternatives: (line, take) => {
      chosen.current = { line, take };
    },
    ask: (line) => {
      const word = wordsOf(store.entries.get(line).text).find(({ end }) => (caret ?? 0) <= end);
      if (!word) return;
      setChoice({ line, start: word.start, isOpen: true });
      setEntered({ row: ".choices" });
    },
    unchoose: () => {
      const word = active && wordsOf(entry.text).find(({ end }) => (caret ?? 0) <= end);
      if (word) setChoice({ line: active, start: word.start, isOpen: false });
      back();
    },
    back,
    alternative: (line, number) => chosen.current?.line === line && chosen.current.take(number),
    afresh: (line) => replace(textOf(line), ""),
    machine: reading.readLine,
    // Opens the row of tags for what is selected, or the word at the caret; or closes it.
    tag: () => {
      const element = active && textOf(active);
      const selected = element && selectionIn(element);
      if (!selected || passage) {
        setPassage(null);
        back();
        return;
      }
      const word = wordsOf(entry.text).find(({ end }) => selected[0] <= end);
      const [from, to] = selected[0] < selected[1] ? selected : [word?.start ?? 0, word?.end ?? 0];
      setPassage({ line: active, places: withoutMarks(entry.text, from, to) });
      setEntered({ row: ".tagging" });
    },
    history: setHistory,
  };
  // Opens a row of buttons and goes there; from there, closes it and goes back to the text.
  const enter = (row, setOpen) => {
    const isThere = document.activeElement.closest(row) !== null;
    if (isThere) back();
    else follow(); // selectionchange may come only after the focus has left the text
    setOpen(!isThere);
    setEntered(isThere ? null : { row });
  };
  const entering = (row) => (entered?.row === row ? entered : null);
  // The text alone, to be read against the scan, which follows as close as its widest line fits; or the pictures of lines.
  const proofread = () => {
    setProofread(!isProofread);
    setCloser({ to: isProofread ? "page" : "lines" });
  };
  const layoutPath = `/p/${id}/layout${active ? `#${encodeURIComponent(active)}` : ""}`;
  const keys = {
    confirm: () => isReadOnly || (active && on.confirmAndGo(active)),
    confirmPage: () => isReadOnly || on.confirmPage(),
    doubt: jump,
    word: (by) => cursor.selectNext(({ text }) => wordsOf(text), by),
    difference: comparing.jump,
    found: search.jump,
    closer: () => setCloser({ to: "line" }),
    proofread: () => hasScan && proofread(),
    turn: (way) => turn(page[way]),
    characters: () => isReadOnly || enter(".palette", setPalette),
    layout: () => hasScan && !isReadOnly && go(layoutPath),
    cancel: active && on.unchoose,
    tag: () => isReadOnly || on.tag(),
  };
  const tag = (change) => store.tag(active, change).catch((failed) => say(failed.message));
  press.current = (event) => undoKeys(event) || screenKeys(event, keys);
  const { state, error: unsaved } = store;
  const shown = { name: page.name, previous: page.previous, next: page.next, state, unsaved, page: id };
  return html`
    ${toolbar(shown)}
    <main class="page" style=${{ "--scan-share": `${scanShare}%` }}>
      <h1 class="unseen">${page.name}</h1>
      ${
        hasScan
          ? html`<${Scan} page=${page} active=${entry} caret=${caret} found=${search.boxes} closer=${closer} onClick=${(line, point) => line && cursor.goTo(line, point)} />`
          : html`<section class="scan none" aria-label="Scan"><p>No picture</p></section>`
      }
      <${Divider} share=${scanShare} set=${setScanShare} />
      <section class="texts" aria-label="Text" data-proofread=${isProofread ? "" : null}>
        <div class="tools">
          ${
            order.length > 0 &&
            html`<label class="slider" title="Marks the least certain words: as many as should contain this share of the errors">
            <span>${doubts ? html`Looking at <b>${percent(look)}</b> of the words finds about <b>${percent(found)}</b> of the errors` : leftSaid(left)}</span>
            <input type="range" min="0.5" max="0.95" step="0.05" value=${share} aria-valuetext=${`${percent(share)} of the errors`}
              onInput=${(event) => setShare(Number(event.target.value))} /></label>
          <button type="button" onClick=${() => jump(1)} title=${`F2, back with Shift+F2${doubts > 0 ? `; beyond the marks, ${leftSaid(left)}` : ""}`}>${doubts || "None"} to look at <kbd>F2</kbd></button>
          <span class="count">${confirmed} of ${order.length} confirmed${doubts > 0 && html`<span class="beyond"> · ${wrongWords(left)} beyond the marks</span>`}</span>
          ${!isReadOnly && html`<button type="button" onClick=${on.confirmPage} disabled=${confirmed === order.length} title="Ctrl+Shift+Enter">Confirm page</button>`}`
          }
          <div class="acts">
          ${
            order.length > 0 &&
            html`${!isReadOnly && html`<button type="button" aria-pressed=${hasPalette} onClick=${() => setPalette(!hasPalette)} title=${`Special characters (${keyName("Alt+C")})`} aria-label="Special characters">ſ ä &</button>`}
          ${hasScan && html`<button type="button" aria-pressed=${isProofread} onClick=${proofread} title=${`Hide the pictures of the lines, to read the text against the scan (${keyName("Alt+P")})`}>Proofread</button>`}
          <button type="button" aria-pressed=${comparison !== null} onClick=${comparing.choose} title="Compare with a text (F4)">Compare</button>`
          }
          ${!isReadOnly && hasScan && html`<a class="button" href=${layoutPath} title=${`Lines, regions and their order (${keyName("Alt+L")})`}>Layout</a>`}
          </div>
        </div>
        <div class="written">
          ${
            search.words &&
            html`<${Found} ...${search} close=${() => {
              search.end();
              back();
            }} />`
          }
          ${
            comparison &&
            html`<${Compared} comparison=${comparison} order=${order} jump=${() => comparing.jump(1)} close=${() => {
              comparing.end();
              back();
            }} />`
          }
          ${page.unknown_hand && html`<p class="hint flag" role="note">${UNKNOWN_HAND}</p>`}
          ${isLayoutDoubtful(page) && html`<p class="hint flag" role="note">The layout of this page is doubtful: check the order of its lines${!isReadOnly && html` under <a href=${layoutPath}>Layout</a>`}.</p>`}
          ${(error ?? page.error) && order.length > 0 && html`<p class="hint flag">${error ?? page.error}</p>`}
          <${Orphans} entries=${[...store.entries.values()].filter(({ state }) => state === "gone")} forget=${(line) => store.forget(line)} />
          ${order.length === 0 && html`<${Empty} page=${page} isReading=${isReading} read=${reading.readPage} />`}
          <ol class="lines" ref=${list}>
            ${order.map((other, place) => {
              const isActive = other.line.id === active;
              return html`<${Line} key=${other.line.id} page=${id} entry=${other} number=${place + 1} store=${store} threshold=${threshold} room=${room}
                comparison=${comparison} hits=${search.hits} isActive=${isActive} caret=${isActive ? caret : null} choice=${isActive ? choice : null}
                entered=${entering(".choices")} isResting=${cursor.isResting}
                people=${people.filter((one) => one.page === id && one.line === other.line.id)} hasPicture=${!isProofread} isReadOnly=${isReadOnly} on=${on} />`;
            })}
          </ol>
          <div class="foot">
            <p class=${isUnseen ? "unseen" : "said"} role="status">${said}</p>
            ${hasPalette && !isReadOnly && order.length > 0 && html`<${Palette} page=${id} entered=${entering(".palette")} close=${() => setPalette(false)} back=${back} />`}
            ${
              passage?.line === active &&
              entry &&
              html`<${Tags} entry=${entry} passage=${passage.places} entered=${entering(".tagging")} save=${tag} back=${() => on.tag()} />`
            }
            ${
              order.length > 0 &&
              html`<${LineBar} entry=${entry} isReadOnly=${isReadOnly} isHandKnown=${!page.unknown_hand} afresh=${status.afresh} on=${on}
              differs=${entry && comparison?.differences(entry).length > 0} />`
            }
          </div>
        </div>
      </section>
      ${comparing.isChoosing && html`<${Compare} page=${id} close=${comparing.unchoose} done=${comparing.begin} />`}
      ${
        history &&
        html`<${History} page=${id} line=${history} close=${() => setHistory(null)} restore=${
          !isReadOnly &&
          ((text) => {
            setHistory(null);
            restore({ line: history, text });
          })
        } />`
      }
    </main>`;
}

// The width in px that the pictures of lines have in a list of them.
function useRoom(list, lines) {
  const [room, setRoom] = useState(500);
  useLayoutEffect(() => {
    if (!list.current || !lines) return undefined;
    const watch = new ResizeObserver(() => setRoom(list.current?.querySelector(".writing")?.clientWidth || 500));
    watch.observe(list.current);
    return () => watch.disconnect();
  }, [lines]);
  return room;
}
