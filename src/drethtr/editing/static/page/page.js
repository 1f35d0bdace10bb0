// The screen of a page: the scan and its text side by side, and the keys that lead through them.

import * as api from "../api.js";
import { Compare } from "../dialogs/compare.js";
import { History } from "../dialogs/history.js";
import { Drafts } from "../drafts.js";
import { useEvents } from "../events.js";
import { counted, percent } from "../format.js";
import { html } from "../html.js";
import { go } from "../route.js";
import { useSetting } from "../settings.js";
import { useEffect, useMemo, useReducer, useRef, useState } from "../vendor/hooks.js";
import { caretIn, isAtEdge, replace, select } from "./caret.js";
import { Orphans } from "./conflict.js";
import { Divider } from "./divider.js";
import { Empty } from "./empty.js";
import { nextOf } from "./jumps.js";
import { doubtsIn, Line } from "./line.js";
import { LineTools } from "./line_tools.js";
import { Palette } from "./palette.js";
import { boxOfLine, offsetAt, placeWanted } from "./places.js";
import { Scan } from "./scan.js";
import { PageStore } from "./store.js";
import { Compared } from "./theirs.js";
import { useComparison } from "./use_comparison.js";
import { wordsOf } from "./words.js";

const REFETCH = 200; // ms; several events often tell of one change
const MESSAGE = 6000; // ms that a message stays
let isSeeking = false; // a jump from the last doubt of a page to the first of the next one

const textOf = (id) => document.querySelector(`[data-line="${CSS.escape(id)}"] .text`);

export function Page({ id, status, wanted, isReading, toolbar }) {
  const [, redraw] = useReducer((count) => count + 1, 0);
  const store = useMemo(() => new PageStore(id, new Drafts(status.workspace, id)), [id]);
  const [error, setError] = useState(null);
  const [active, setActive] = useState(null);
  const [caret, setCaret] = useState(null);
  const [said, say] = useState("");
  const [isShaping, setShaping] = useState(false);
  const [isDrawing, setDrawing] = useState(false);
  const [entered, setEntered] = useState(null); // {row}, a row of buttons that the keyboard is to go to
  const [history, setHistory] = useState(null);
  const [restored, restore] = useState(null); // {line, text} from the history
  const [threshold, setThreshold] = useSetting("threshold", status.doubtful);
  const [hasPalette, setPalette] = useSetting("palette", false);
  const [share, setShare] = useSetting("scan-share", 50);
  const chosen = useRef(null); // takes an alternative of the active line
  const timer = useRef(0);

  const load = () =>
    store.load().then(
      () => setError(null),
      (failed) => setError(failed.message),
    );
  const refetch = ({ page }) => {
    if (page !== id) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(load, REFETCH);
  };
  useEffect(() => {
    const end = store.watch(redraw);
    setActive(null);
    setCaret(null);
    load();
    return () => {
      store.saveAll();
      clearTimeout(timer.current);
      end();
    };
  }, [id]);
  useEvents(
    {
      page: refetch,
      line: refetch,
      connected: () => {
        store.saveAll();
        load();
      },
    },
    [id],
  );

  useEffect(() => {
    if (store.page) document.title = `${store.page.name} – ${status.folder} – drethtr`;
  }, [store.page?.name]);

  useEffect(() => {
    const fade = setTimeout(() => say(""), MESSAGE);
    return () => clearTimeout(fade);
  }, [said]);

  const order = store.order;
  const isLoaded = store.page !== null;
  useEffect(() => {
    if (!isLoaded || !order.length) return;
    if (isSeeking) {
      isSeeking = false;
      jump(1, true);
    } else if (store.entries.has(wanted.line)) selectWanted();
    else if (!active) select(textOf(order[0].line.id), 0);
  }, [isLoaded, id, order.length > 0]);
  const selectWanted = () => {
    const { line, text } = store.entries.get(wanted.line);
    const { start, end } = placeWanted(line, text, wanted);
    select(textOf(line.id), start, end);
  };
  // The special characters cover the lower end of the text.
  useEffect(() => {
    if (active) textOf(active)?.scrollIntoView({ block: "nearest" });
  }, [hasPalette]);
  // Only when the dialog is gone can the text behind it be changed.
  useEffect(() => {
    if (restored) replace(textOf(restored.line), restored.text);
  }, [restored]);
  useEffect(() => {
    const follow = () => {
      const element = document.activeElement?.closest(".text");
      if (element) setCaret(caretIn(element));
    };
    document.addEventListener("selectionchange", follow);
    return () => document.removeEventListener("selectionchange", follow);
  }, []);

  const entry = store.entries.get(active) ?? null;
  // The caret is where it was in the text.
  const back = () => {
    const element = active && textOf(active);
    if (element && document.activeElement !== element) select(element, caret ?? 0);
  };
  // What had the focus may be gone with a line.
  useEffect(() => {
    if (document.activeElement === document.body) back();
  }, [active, order.length]);
  const step = (from, by, offset = 0) => {
    const place = order.findIndex(({ line }) => line.id === from) + by;
    if (order[place]) select(textOf(order[place].line.id), offset);
    else if (by > 0) leave("This is the last line of the page.", "Enter", () => {});
    else say("This is the first line of the page.");
  };
  // At the end of the page, says so; the same key once more goes to the next page.
  const leave = (told, key, prepare) => {
    const { next } = store.page;
    const all = next ? `${told} ${key} again goes to the next page.` : told;
    if (!next || said !== all) return say(all);
    prepare();
    return turn(next);
  };

  // Selects the next or previous of the places that `placesIn` finds in the text of each line.
  const selectNext = (placesIn, by, isFromStart) => {
    const places = order.flatMap((other, line) => placesIn(other).map((place) => ({ ...place, line, other })));
    const line = order.findIndex((other) => other.line.id === active);
    const isStart = isFromStart || line < 0;
    const next = nextOf(places, isStart ? null : { line, offset: caretIn(textOf(active)) ?? -1 }, by);
    if (next) {
      const element = textOf(next.other.line.id);
      select(element, next.start, next.end);
      element.closest(".line").scrollIntoView({ block: "nearest" });
    }
    return next;
  };

  const comparing = useComparison(store, { isLoaded, selectNext, textOf, say, redraw });
  const { comparison } = comparing;

  // To the next or previous doubtful word, which is selected: a person types over it.
  const jump = (by, isFromStart = false) => {
    const next = selectNext((other) => doubtsIn(other, threshold), by, isFromStart);
    if (next) {
      say(`Doubtful: ${next.text}, ${percent(next.confidence)} sure`);
    } else if (by > 0) {
      leave("No more doubts on this page.", "F2", () => {
        isSeeking = true;
      });
    } else say("No earlier doubts on this page.");
  };

  const confirm = (line, isStaying) => {
    const isConfirmed =
      store.entries.get(line).line.status === "confirmed" && store.entries.get(line).state === "clean";
    store.save(line, isConfirmed && isStaying ? "corrected" : "confirmed");
    if (!isStaying) step(line, 1);
  };
  const attempt = async (doing, done) => {
    try {
      const result = await doing();
      if (done) say(done);
      return result;
    } catch (failed) {
      say(failed.message);
      if (failed.status === 409) load();
      return null;
    }
  };
  const on = {
    focus: (line) => {
      setActive(line);
      setEntered(null);
    },
    caret: (line, offset) => line === active && setCaret(offset),
    alternatives: (line, take) => {
      chosen.current = { line, take };
    },
    confirm: (line) => confirm(line, true),
    ...comparing.on,
    afresh: (line) => replace(textOf(line), ""),
    history: setHistory,
    strip: (line, part) => {
      const other = store.entries.get(line);
      const [left, top, right, bottom] = boxOfLine(other.line);
      select(textOf(line), offsetAt(other.line, other.text, [left + part * (right - left), (top + bottom) / 2]));
    },
    machine: (line) =>
      attempt(async () => {
        await store.save(line);
        await api.readLine(id, line, store.entries.get(line).line.revision);
        await load();
      }, "The line was read again; its earlier text is in History."),
    key: (event, line) => {
      const element = textOf(line);
      const modified = event.ctrlKey || event.metaKey;
      if (event.isComposing) return;
      if (event.key === "Enter") {
        if (modified) confirm(line);
        else {
          store.save(line);
          step(line, event.shiftKey ? -1 : 1);
        }
      } else if (event.altKey && /^Digit[1-9]$/.test(event.code)) {
        if (chosen.current?.line === line) chosen.current.take(Number(event.code.at(-1)) - 1);
      } else if (event.altKey && event.code === "Digit0") on.afresh(line);
      else if (event.altKey && event.code === "KeyT") (event.shiftKey ? on.takeLine : on.take)(line);
      else if (event.altKey && event.code === "KeyO") on.keep(line);
      else if (
        (event.key === "ArrowDown" || event.key === "ArrowUp") &&
        !modified &&
        !event.altKey &&
        !event.shiftKey &&
        isAtEdge(element, event.key === "ArrowUp")
      ) {
        const by = event.key === "ArrowUp" ? -1 : 1;
        const place = order.findIndex((other) => other.line.id === line);
        if (!order[place + by]) return;
        step(line, by, Math.min(caretIn(element), order[place + by].text.length));
      } else return;
      event.preventDefault();
    },
  };
  // Opens a row of buttons and goes there; from there, closes it and goes back to the text.
  const enter = (row, setOpen) => {
    const isThere = document.activeElement.closest(row) !== null;
    if (isThere) back();
    setOpen(!isThere);
    setEntered(isThere ? null : { row });
  };
  const entering = (row) => (entered?.row === row ? entered : null);
  const screenKeys = (event) => {
    if (event.key === "F2") jump(event.shiftKey ? -1 : 1);
    else if (event.key === "F3" && !event.altKey) selectNext(({ text }) => wordsOf(text), event.shiftKey ? -1 : 1);
    else if (event.key === "F4" && !event.altKey) comparing.jump(event.shiftKey ? -1 : 1);
    else if (event.altKey && event.key === "PageDown") turn(store.page?.next);
    else if (event.altKey && event.key === "PageUp") turn(store.page?.previous);
    else if (event.altKey && event.code === "KeyC") enter(".palette", setPalette);
    else if (event.altKey && event.code === "KeyL") enter(".shaping", setShaping);
    else if (event.key === "Escape" && isDrawing) setDrawing(false);
    else return;
    event.preventDefault();
  };
  const turn = (other) => other && go(`/p/${other}`);
  const scanClick = (line, point) => {
    if (!line) return;
    const other = store.entries.get(line);
    select(textOf(line), offsetAt(other.line, other.text, point));
  };
  const reshape = (line, call, done) =>
    attempt(async () => {
      const place = order.findIndex((other) => other.line.id === active);
      const changed = await store.reshape(line, call);
      const first = changed.find((other) => store.entries.has(other));
      const nearest = store.order[Math.min(place, store.order.length - 1)]?.line.id;
      setActive(first ?? (store.entries.has(active) ? active : nearest));
    }, done);
  const readAgain = () => attempt(() => api.readPage(id), "The page is being read; lines that you have edited stay.");
  const baseline = (line, points) =>
    reshape(
      null,
      async () => {
        await store.save(line);
        await api.putLine(id, line, store.entries.get(line).line.revision, {
          baseline: points,
        });
        return api.page(id);
      },
      "The line image was updated.",
    );

  if (error && !store.page)
    return html`${toolbar({})}<main class="notice"><h1>This page cannot be shown</h1><p>${error}</p></main>`;
  if (!store.page) return html`${toolbar({})}<main class="notice" aria-busy="true"><p>Opening the page…</p></main>`;
  const { page } = store;
  const doubts = order.reduce((sum, other) => sum + doubtsIn(other, threshold).length, 0);
  const confirmed = order.filter(({ line }) => line.status === "confirmed").length;
  const shown = {
    name: page.name,
    previous: page.previous,
    next: page.next,
    state: store.state,
    page: id,
  };
  return html`
    ${toolbar(shown)}
    <main class="page" onKeyDown=${screenKeys} style=${{ "--scan-share": `${share}%` }}>
      <h1 class="unseen">${page.name}</h1>
      <${Scan} page=${page} active=${entry} caret=${caret} isShaping=${isShaping} isDrawing=${isDrawing} onClick=${scanClick}
        onBaseline=${baseline} onDrawn=${(points) => {
          setDrawing(false);
          if (points) reshape(null, () => api.addLine(id, { baseline: points }), "A line was added.");
        }} />
      <${Divider} share=${share} set=${setShare} />
      <section class="texts" aria-label="Text">
        <div class="tools">
          <label class="slider" title="Words below this confidence are marked"><span>Mark below <b>${percent(threshold)}</b></span>
            <input type="range" min="0" max="0.95" step="0.05" value=${threshold} aria-valuetext=${percent(threshold)}
              onInput=${(event) => setThreshold(Number(event.target.value))} /></label>
          <button type="button" onClick=${() => jump(1)} title="F2, back with Shift+F2">${counted(doubts, "doubt")} <kbd>F2</kbd></button>
          <span class="count">${confirmed} of ${order.length} confirmed</span>
          <span class="gap" />
          <button type="button" aria-pressed=${hasPalette} onClick=${() => setPalette(!hasPalette)} title="Special characters (Alt+C)" aria-label="Special characters">ſ ä &</button>
          <button type="button" aria-pressed=${comparison !== null} onClick=${comparing.choose} title="Compare with a text (F4)">Compare</button>
          <button type="button" aria-pressed=${isShaping} onClick=${() => setShaping(!isShaping)} title="Draw, split, join, move and delete lines (Alt+L)">Lines</button>
        </div>
        ${
          isShaping &&
          html`<${LineTools} store=${store} entry=${entry} caret=${caret} isDrawing=${isDrawing} setDrawing=${setDrawing} reshape=${reshape} readAgain=${readAgain}
          entered=${entering(".shaping")} back=${back} />`
        }
        ${
          comparison &&
          html`<${Compared} comparison=${comparison} order=${order} jump=${() => comparing.jump(1)} close=${() => {
            comparing.end();
            back();
          }} />`
        }
        ${page.error && order.length > 0 && html`<p class="hint flag">${page.error}</p>`}
        <${Orphans} entries=${[...store.entries.values()].filter(({ state }) => state === "gone")} forget=${(line) => store.forget(line)} />
        ${order.length === 0 && html`<${Empty} page=${page} isReading=${isReading} read=${readAgain} />`}
        <ol class="lines">
          ${order.map((other, place) => {
            other.page = id;
            return html`<${Line} key=${other.line.id} entry=${other} number=${place + 1} store=${store} threshold=${threshold}
              comparison=${comparison} afresh=${status.afresh} isActive=${other.line.id === active} caret=${other.line.id === active ? caret : null} on=${on} />`;
          })}
        </ol>
        <div class="foot">
          <p class="said" role="status">${said}</p>
          ${hasPalette && html`<${Palette} page=${id} entered=${entering(".palette")} close=${() => setPalette(false)} back=${back} />`}
        </div>
      </section>
      ${comparing.isChoosing && html`<${Compare} page=${id} close=${comparing.unchoose} done=${comparing.begin} />`}
      ${
        history &&
        html`<${History} page=${id} line=${history} close=${() => setHistory(null)} restore=${(text) => {
          setHistory(null);
          restore({ line: history, text });
        }} />`
      }
    </main>`;
}
