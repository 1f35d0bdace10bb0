// The screen of a page's layout: the scan in full width with its lines and regions, and a list of them.

import * as api from "../api.js";
import { Steps } from "../dialogs/history.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { isAlt, keyName, useKeys } from "../page/keys.js";
import { useReading } from "../page/use_reading.js";
import { attempting, useSaid } from "../page/use_said.js";
import { useStore } from "../page/use_store.js";
import { go } from "../route.js";
import { useSetting } from "../settings.js";
import { useMemo, useRef, useState } from "../vendor/hooks.js";
import { Canvas } from "./canvas.js";
import { groupsOf } from "./geometry.js";
import { Icon } from "./icons.js";
import { List } from "./list.js";
import { effectOf, TOOLS, tableOf } from "./tools.js";

const DONE = {
  draw: "A line was added.",
  cut: "The lines were cut.",
  join: "The lines were joined.",
  delete: "The lines were deleted.",
  move: "The lines were moved.",
  path: "The lines follow each other now.",
  region: "The region was changed.",
  "two-pages": "The left page is read first now.",
  rows: "The lines are read row by row.",
  columns: "The lines are read column by column.",
  table: "The lines are cells of a table.",
  find: "The lines were found again.",
  turn: "The page was turned, and its lines found again.",
};

export function Layout({ id, status, wanted, toolbar }) {
  const { store, error, load } = useStore(id, status);
  const [tool, setTool] = useState("select");
  const [selected, setSelected] = useState(() => new Set(wanted.line ? [wanted.line] : []));
  const [anchor, setAnchor] = useState(wanted.line);
  const [region, setRegion] = useState(null);
  const [strokes, setStrokes] = useState([]); // of a table
  const [shown, setShown] = useState(wanted.line ? { line: wanted.line } : null);
  const [said, say] = useSaid();
  const { readPage } = useReading(store, attempting(say, load), load);
  const [isBusy, setBusy] = useState(false);
  const [hasSteps, setSteps] = useState(false);
  const [isListed, setListed] = useSetting("layout-list", true);
  const queue = useRef(Promise.resolve());
  // Lines that are gone are not selected.
  const { page } = store;
  const known = useMemo(() => new Set(page?.lines.map((line) => line.id)), [page]);
  const chosen = useMemo(() => new Set([...selected].filter((line) => known.has(line))), [selected, known]);

  const press = useKeys();

  if (error && !page)
    return html`${toolbar({})}<main class="notice"><h1>This page cannot be shown</h1><p>${error}</p><p><a href="/">All pages</a></p></main>`;
  if (!page) return html`${toolbar({})}<main class="layout" aria-busy="true" />`;

  const order = page.lines.map((line) => line.id);
  const inOrder = () => order.filter((line) => chosen.has(line));
  const select = (lines, last = lines.at(-1)) => {
    setSelected(new Set(lines));
    if (last) setAnchor(last);
  };
  // One change of the store after the other; answers with what went wrong.
  const run = (change, done) => {
    const next = queue.current.then(async () => {
      setBusy(true);
      try {
        const changed = await change();
        say(done);
        return { changed };
      } catch (failed) {
        say(failed.message);
        if (failed.status === 409) load();
        return { failed: failed.message };
      } finally {
        setBusy(false);
      }
    });
    queue.current = next.catch(() => {});
    return next;
  };
  const act = async (body) => {
    const seen = Object.fromEntries((body.lines ?? []).map((line) => [line, store.entries.get(line)?.line.revision]));
    const revisions = ["delete", "join"].includes(body.do) ? { revisions: seen } : {};
    const call = () => api.layout(id, { ...body, ...revisions });
    const { changed } = await run(() => store.reshape(call), DONE[body.do] ?? "Done.");
    if (changed && body.do === "turn" && store.page.quarters !== body.quarters)
      say("No lines run in that direction; the lines of the page were found again.");
    if (changed && ["find", "turn", "two-pages"].includes(body.do)) setSelected(new Set());
    else if (changed?.length) select(changed);
  };
  // Gives a line another outline, or another baseline.
  const place = (line, shape) => {
    const call = async () => {
      const { revision, baseline } = store.entries.get(line).line; // as the place before this one has made it
      await api.putLine(id, line, revision, { baseline, ...shape });
      return api.page(id);
    };
    return run(() => store.reshape(call), shape.polygon ? "The outline was changed." : "The baseline was moved.");
  };
  const undo = (step) => run(() => store.step(() => api.undo(id, step)), "Undone.");
  const redo = () => run(() => store.step(() => api.redo(id)), "Done again.");
  const open = (line) => go(`/p/${id}${line ? `#${encodeURIComponent(line)}` : ""}`);

  const click = (line, isAdding, isRange) => {
    setRegion(null);
    if (!line) {
      if (!isAdding) setSelected(new Set());
      return;
    }
    if (isRange && anchor && order.includes(anchor)) {
      const [from, to] = [order.indexOf(anchor), order.indexOf(line)].sort((a, b) => a - b);
      setSelected(new Set(order.slice(from, to + 1)));
    } else if (isAdding) {
      const next = new Set(chosen);
      if (!next.delete(line)) next.add(line);
      select([...next], line);
    } else select([line]);
    setShown({ line });
  };
  const on = {
    click,
    select: (lasso, isAdding) => {
      const { select: found } = effectOf("select", lasso, { lines: page.lines });
      select([...(isAdding ? chosen : []), ...found]);
    },
    stroke: (stroke, { scale, isClicked }) => {
      const effect = effectOf(tool, stroke, { lines: page.lines, selected: inOrder(), scale, isClicked });
      if (!effect) return;
      if (effect.act) act(effect.act);
      else if (effect.stroke) setStrokes([...strokes, effect.stroke]);
      else if (effect.polygon && effect.line) {
        select([effect.line]);
        place(effect.line, { polygon: effect.polygon });
      } else say(effect.say ?? "There is no line in the shape.");
    },
    place: (points, isOutline) => place([...chosen][0], isOutline ? { polygon: points } : { baseline: points }),
    open,
    region: (one) => {
      setRegion(one);
      select(
        groupsOf(page)
          .find((group) => group.id === one)
          .lines.map(({ line }) => line.id),
      );
    },
    move: (body) => act({ do: "move", ...body }),
    moveRegion: (one, after) => act({ do: "move-region", region: one, after: after ?? null }),
    kind: (one, kind) => act({ do: "region", region: one, kind }),
    dissolve: (one) => act({ do: "dissolve", region: one }),
  };
  const makeTable = () => {
    if (!strokes.length) return;
    act(tableOf(strokes, inOrder(), page.quarters));
    setStrokes([]);
    setTool("select");
  };
  const remove = () => chosen.size && act({ do: "delete", lines: inOrder() });
  // J and R act at once where enough is selected; a second time they are tools.
  const take = (next) => {
    if (next === "join" && chosen.size > 1) return act({ do: "join", lines: inOrder() });
    if (next === "region" && chosen.size > 0 && tool === "select") return act({ do: "region", lines: inOrder() });
    setStrokes([]);
    setTool(next);
    say(""); // the hint of the tool
    return undefined;
  };
  press.current = (event) => {
    if (event.defaultPrevented || event.target.closest?.("select, input")) return;
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    const isCommand = ctrlKey || metaKey;
    const other = TOOLS.find((one) => one.key === key.toLowerCase());
    if (isCommand && key.toLowerCase() === "z") (shiftKey ? redo : undo)();
    else if (isCommand && key.toLowerCase() === "y") redo();
    else if (isCommand && key.toLowerCase() === "a") select(order);
    else if (isAlt(event) && event.code === "KeyL") open(inOrder()[0]);
    else if (altKey && (key === "PageDown" || key === "PageUp")) {
      const next = key === "PageDown" ? page.next : page.previous;
      if (next) go(`/p/${next}/layout`);
    } else if (isCommand || altKey) return;
    else if (key === "Delete" || key === "Backspace") {
      if (tool === "table" && strokes.length) setStrokes(strokes.slice(0, -1));
      else remove();
    } else if (key === "Escape") {
      if (tool !== "select") take("select");
      else setSelected(new Set());
    } else if (key === "Enter" && strokes.length && !event.target.closest?.("button, a")) makeTable();
    else if (other) take(other.id);
    else return;
    event.preventDefault();
  };
  const { state, error: unsaved } = store;
  const { hint } = TOOLS.find((one) => one.id === tool);
  const some = chosen.size > 1 ? { lines: inOrder() } : {};
  const repair = (label, title, body) =>
    html`<button type="button" title=${title} onClick=${() => act(body)}>${label}</button>`;
  return html`
    ${toolbar({ name: page.name, previous: page.previous, next: page.next, state, unsaved, page: id, isLayout: true })}
    <main class="layout" data-listed=${isListed ? "" : null}>
      <h1 class="unseen">${`Layout of ${page.name}`}</h1>
      <div class="tools repairs" role="group" aria-label="Repairs">
        <button type="button" onClick=${() => undo()} title="Undo (Ctrl+Z)" aria-label="Undo">↶<span> Undo</span></button>
        <button type="button" onClick=${redo} title="Redo (Ctrl+Shift+Z)" aria-label="Redo">↷<span> Redo</span></button>
        <i class="rule" />
        ${repair("Two pages", "Cut all lines at the fold of an opening, and read the left page first", { do: "two-pages" })}
        ${repair("Row by row", "Read from left to right, then from top to bottom: the selected lines, or all", { do: "rows", ...some })}
        ${repair("Column by column", "Read from top to bottom, then from left to right: the selected lines, or all", { do: "columns", ...some })}
        <i class="rule" />
        <span class="turns" role="group" aria-label="Turn the page">
          ${[
            [1, "↺", "Turn the page to the left"],
            [3, "↻", "Turn the page to the right"],
            [2, "⇅", "Turn the page upside down"],
          ].map(
            ([by, sign, label]) =>
              html`<button type="button" aria-label=${label} title=${`${label}, and find its lines again`} onClick=${() => act({ do: "turn", quarters: (page.quarters + by) % 4 })}>${sign}</button>`,
          )}
        </span>
        <button type="button" title="Read all unedited lines again" onClick=${readPage}>Read again</button>
        <span class="gap" />
        <button type="button" onClick=${() => setSteps(true)}>History</button>
        <button type="button" aria-pressed=${isListed} onClick=${() => setListed(!isListed)} title="Show the list of lines">List</button>
        <a class="main" href=${`/p/${id}${chosen.size ? `#${encodeURIComponent(inOrder()[0])}` : ""}`} title=${`Back to the text (${keyName("Alt+L")})`}>Text</a>
      </div>
      <div class="toolbox" role="toolbar" aria-label="Tools" aria-orientation="vertical">
        ${TOOLS.map(
          (
            one,
          ) => html`<button key=${one.id} type="button" aria-pressed=${tool === one.id} aria-label=${one.name} title=${`${one.name} (${one.key.toUpperCase()}). ${one.hint}`}
            onClick=${() => take(one.id)}><${Icon} name=${one.id} /><kbd aria-hidden="true">${one.key.toUpperCase()}</kbd></button>`,
        )}
        <i class="rule" />
        <button type="button" aria-label="Delete" title="Delete the selected lines (Delete)" aria-disabled=${!chosen.size} onClick=${remove}><${Icon} name="delete" /><kbd aria-hidden="true">Del</kbd></button>
      </div>
      <${Canvas} page=${page} tool=${tool} selected=${chosen} region=${region} strokes=${strokes} shown=${shown} on=${on} />
      <p class="notice-bar" data-busy=${isBusy ? "" : null} data-said=${said || strokes.length ? "" : null}><b>${said || hint}</b>
        ${strokes.length > 0 && html` <button type="button" class="main" onClick=${makeTable}>Make the table <kbd>Enter</kbd></button>`}</p>
      <aside class="order-list" aria-label="Lines in order">
        <p class="count">${counted(order.length, "line")}${chosen.size > 0 && html` · ${chosen.size} selected`}</p>
        <${List} page=${page} entries=${store.entries} selected=${chosen} region=${region} shown=${shown} on=${on} />
      </aside>
      <p class="unseen" role="status">${said}</p>
      ${
        hasSteps &&
        html`<${Steps} page=${id} close=${() => setSteps(false)}
          undo=${async (step) => (await undo({ step })).failed} />`
      }
    </main>`;
}
