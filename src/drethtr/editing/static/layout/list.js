// The lines of a page in their order, one row each, in their regions: chosen, dragged, and moved with keys.

import { html } from "../html.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { groupsOf } from "./geometry.js";

const KINDS = [
  "",
  "text",
  "margin",
  "heading",
  "header",
  "footer",
  "page-number",
  "footnote",
  "caption",
  "table",
  "other",
];
const SLACK = 4; // px that a pointer moves before it drags

// `on`: {click(line, isAdding, isRange), move({lines, after | before}), moveRegion(region, after), kind, dissolve, open}
export function List({ page, entries, selected, region, shown, on }) {
  const list = useRef();
  const [drop, setDrop] = useState(null); // {before | after: line} or {region} while dragging
  const drag = useRef(null);
  const groups = useMemo(() => groupsOf(page), [page]);
  const order = page.lines.map(({ id }) => id);
  useEffect(() => {
    if (shown) row(shown.line)?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  const row = (id) => list.current.querySelector(`[data-row="${CSS.escape(id)}"]`);
  // Browsers take the focus from what is moved; while this is rendered, nothing is yet.
  const focused = list.current?.contains(document.activeElement) ? document.activeElement : null;
  useLayoutEffect(() => {
    if (focused && document.activeElement === document.body)
      (focused.isConnected ? focused : row(focused.dataset.row))?.focus();
  });

  const down = (event, what) => {
    if (event.button || event.target.closest("select, button:not(.grip)")) return;
    drag.current = { ...what, x: event.clientX, y: event.clientY, isMoved: false };
    list.current.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const held = drag.current;
    if (!held) return;
    if (!held.isMoved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < SLACK) return;
    if (!held.isMoved && held.line && !selected.has(held.line)) on.click(held.line, false);
    held.isMoved = true;
    const { top, bottom } = list.current.getBoundingClientRect();
    if (event.clientY < top + 30) list.current.scrollTop -= 12;
    if (event.clientY > bottom - 30) list.current.scrollTop += 12;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    if (held.region) {
      const other = under?.closest("[data-group]")?.dataset.group;
      setDrop(other && other !== held.region ? { region: other } : null);
      return;
    }
    const over = under?.closest("[data-row]");
    if (!over || selected.has(over.dataset.row)) {
      setDrop(null);
      return;
    }
    const { top: start, height } = over.getBoundingClientRect();
    setDrop({ [event.clientY < start + height / 2 ? "before" : "after"]: over.dataset.row });
  };
  const cancel = () => {
    drag.current = null;
    setDrop(null);
  };
  const up = (event) => {
    const held = drag.current;
    cancel();
    if (!held) return;
    if (!held.isMoved) {
      if (held.line) on.click(held.line, event.ctrlKey || event.metaKey, event.shiftKey);
      else on.region(held.region);
    } else if (drop?.region) {
      const ids = groups.map(({ id }) => id);
      const isDown = ids.indexOf(drop.region) > ids.indexOf(held.region);
      on.moveRegion(held.region, isDown ? lastOf(drop.region) : lastOf(ids[ids.indexOf(drop.region) - 1]));
    } else if (drop) on.move({ lines: order.filter((id) => selected.has(id)), ...drop });
  };
  const lastOf = (id) => groups.find((group) => group.id === id)?.regions.at(-1).id;

  const keys = (event, id) => {
    const place = order.indexOf(id);
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (way && event.altKey) {
      const chosen = selected.has(id) ? order.filter((one) => selected.has(one)) : [id];
      const beside = order[order.indexOf(way < 0 ? chosen[0] : chosen.at(-1)) + way];
      if (beside) on.move({ lines: chosen, [way < 0 ? "before" : "after"]: beside });
    } else if (way) {
      const next = order[place + way];
      if (!next) return;
      row(next).focus();
      if (!event.ctrlKey) on.click(next, false, event.shiftKey);
    } else if (event.key === " ") on.click(id, true);
    else if (event.key === "Enter") on.open(id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const regionKeys = (event, id) => {
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!way || !event.altKey) return;
    event.preventDefault();
    const ids = groups.map((group) => group.id);
    const place = ids.indexOf(id);
    if (way < 0 && place > 0) on.moveRegion(id, lastOf(ids[place - 2]));
    if (way > 0 && ids[place + 1]) on.moveRegion(id, lastOf(ids[place + 1]));
  };
  const isStop = (id) => (selected.size ? id === order.find((one) => selected.has(one)) : id === order[0]);
  return html`
    <div class="line-rows" ref=${list} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${cancel} data-dragging=${drop ? "" : null}>
      ${groups.map(
        ({ id, regions, lines, table }, place) => html`
        <section key=${id} data-group=${id} data-drop=${drop?.region === id ? "" : null}>
          <header data-chosen=${region === id ? "" : null} onPointerDown=${(event) => down(event, { region: id })}>
            <button type="button" class="grip" aria-label=${`Region ${place + 1}: drag it, or move it with Alt and arrow keys`} onKeyDown=${(event) => regionKeys(event, id)}>⠿</button>
            ${
              table
                ? html`<b>Table</b><span class="hint">${1 + Math.max(...regions.map(({ cell }) => cell[1]))} × ${1 + Math.max(...regions.map(({ cell }) => cell[2]))}</span>`
                : html`<select aria-label=${`Type of region ${place + 1}`} value=${regions[0].kind} onChange=${(event) => on.kind(id, event.target.value)}>
              ${[...new Set([...KINDS, regions[0].kind])].map((kind) => html`<option value=${kind}>${kind || "region"}</option>`)}</select>`
            }
            <span class="gap" />
            ${groups.length > 1 && !table && html`<button type="button" class="close" title="Remove the region; its lines go to the one before" aria-label=${`Remove region ${place + 1}`} onClick=${() => on.dissolve(id)}>×</button>`}
          </header>
          ${
            lines.length > 0 &&
            html`<ul role="listbox" aria-multiselectable="true" aria-label=${`Lines of region ${place + 1}`}>
            ${lines.map(({ line, number, region: own }) => {
              const text = entries.get(line.id)?.text || line.text;
              return html`<li key=${line.id} class="row" role="option" data-row=${line.id} aria-selected=${selected.has(line.id)} tabindex=${isStop(line.id) ? 0 : -1}
                data-drop=${drop?.before === line.id ? "before" : drop?.after === line.id ? "after" : null}
                onPointerDown=${(event) => down(event, { line: line.id })} onDblClick=${() => on.open(line.id)} onKeyDown=${(event) => keys(event, line.id)}>
                <span class="number">${number}</span>
                ${own.cell && html`<span class="cell">${own.cell[1] + 1}·${own.cell[2] + 1}</span>`}
                <span class=${text ? "words" : "words earlier"}>${text || line.earlier || "…"}</span></li>`;
            })}
          </ul>`
          }
        </section>`,
      )}
    </div>`;
}
