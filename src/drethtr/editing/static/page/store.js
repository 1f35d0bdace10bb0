// A page while it is edited: what the server has, what is typed, and how the two are merged.

import * as api from "../api.js";

const PAUSE = 2000; // ms without a key until a line is saved by itself: not between letters, but before a cup of coffee
const RETRIES = [2000, 4000, 8000, 15000]; // ms; the last one again and again, as a server may be away for a night

// Whether the scan of a page, or the file with its text, cannot be read now.
const isUnreadable = ({ status, error }) => status === "unread" && Boolean(error);

// Whether a text is that of a line; the server keeps no spaces at its ends.
const isSaved = (text, line) => text.trim() === line.text.trim();

const stores = new Map(); // of pages that may not be saved yet, by the prefix of their drafts

// The store of a page. One that still sends what was typed before the page was left is taken up again: a second one
// would send other texts of the same lines, and each would take those of the other for somebody else's.
export function storeOf(id, drafts) {
  for (const [prefix, { state }] of stores) if (state === "saved") stores.delete(prefix);
  if (!stores.has(drafts.prefix)) stores.set(drafts.prefix, new PageStore(id, drafts));
  return stores.get(drafts.prefix);
}

// The state of an entry, one for each line:
//
//   clean     as the server has it
//   typed     not sent yet; after a pause, or when the caret leaves the line: saving
//   saving    then clean, or typed if more was typed meanwhile; failed, conflict or gone if it was not saved
//   failed    the server did not answer, or has not the page now; sent again after a while
//   conflict  the line was changed elsewhere; when the person has chosen a text: typed (hers) or clean (theirs)
//   gone      the line is not on the page any more; clean if it comes back as it was, else as any draft
//
// What a person types, or the status given to a line, is in `drafts` until the server has it, so no state loses it:
// - A page from the server replaces the text of clean lines only, and only if it was asked for after the line was saved:
//   an answer that was on its way is older than what the person sees.
// - One request a line at a time, as each must name the revision that the one before it made; what is typed in between
//   is sent when the answer is there.
// - A conflict sends nothing until the person has chosen. The other text is shown beside hers, never in its place.
export class PageStore {
  constructor(id, drafts) {
    this.id = id;
    this.drafts = drafts;
    this.page = null;
    this.entries = new Map();
    this.watchers = new Set();
    this.failures = 0;
    this.asked = 0; // when the newest answer was asked for
  }

  watch(watcher) {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  changed() {
    for (const watcher of this.watchers) watcher();
  }

  get order() {
    return this.page?.lines.map(({ id }) => this.entries.get(id)) ?? [];
  }

  // Fetches the page; text that is typed but not saved stays.
  async load() {
    const asked = performance.now();
    const page = await api.page(this.id);
    if (asked >= this.asked) this.take(page, asked); // an answer may overtake an earlier one
  }

  take(page, asked = performance.now()) {
    this.asked = Math.max(this.asked, asked);
    const isFirst = this.page === null;
    // While a page cannot be read, what was known of it stays.
    this.page = isUnreadable(page) && !isFirst ? { ...this.page, error: page.error } : page;
    const found = new Set(this.page.lines.map(({ id }) => id));
    const back = [...this.entries.values()].filter(({ state, line }) => state === "gone" && found.has(line.id));
    for (const { line } of back) this.entries.delete(line.id);
    for (const line of page.lines) this.takeLine(line, asked);
    for (const entry of this.entries.values()) {
      if (found.has(entry.line.id) || entry.state === "gone") continue;
      if (entry.state === "clean") this.entries.delete(entry.line.id);
      else entry.state = "gone";
    }
    if (isFirst || back.length) this.restore();
    this.changed();
  }

  takeLine(line, asked) {
    const entry = this.entries.get(line.id);
    if (!entry) {
      this.entries.set(line.id, {
        line,
        text: line.text,
        state: "clean",
        theirs: null,
        sent: [], // texts of hers that the server may have, although it did not answer
        saved: 0,
        timer: 0,
      });
    } else if (entry.state === "clean" && asked >= entry.saved) {
      entry.line = line;
      entry.text = line.text;
    } else if (entry.state === "conflict" && asked >= entry.saved) {
      entry.theirs = line;
    }
  }

  keep({ line, text, status }) {
    this.drafts.keep(line.id, text, line.revision, status);
  }

  // Takes up what was typed or said before the browser or the server ended, or a line was gone.
  restore() {
    for (const [id, draft] of this.drafts.all()) {
      const entry = this.entries.get(id);
      if (entry && entry.state !== "clean") continue;
      if (!entry) {
        this.entries.set(id, {
          line: { id, text: "", words: [] },
          text: draft.text,
          state: "gone",
        });
      } else if (isSaved(draft.text, entry.line) && !draft.status) {
        this.drafts.drop(id);
      } else if (isSaved(draft.text, entry.line) || draft.revision === entry.line.revision) {
        Object.assign(entry, { text: draft.text, status: draft.status, state: "typed", sent: [draft.text] });
        this.save(id);
      } else {
        Object.assign(entry, {
          text: draft.text,
          status: draft.status,
          state: "conflict",
          theirs: entry.line,
        });
      }
    }
  }

  type(id, text) {
    const entry = this.entries.get(id);
    entry.text = text;
    this.keep(entry);
    clearTimeout(entry.timer);
    if (entry.state === "conflict") return;
    entry.timer = setTimeout(() => this.save(id), PAUSE);
    if (entry.state === "clean") {
      entry.state = "typed";
      this.changed();
    }
  }

  // Sends what was typed, and the `status` if a person gives one; `options` are those of the request.
  // Requests for a line follow one another.
  async save(id, status, options) {
    const entry = this.entries.get(id);
    clearTimeout(entry?.timer);
    if (!entry || entry.state === "conflict" || entry.state === "gone") return;
    entry.status = status ?? entry.status;
    if (status) this.keep(entry);
    if (entry.state !== "saving") {
      if (entry.state === "clean" && !entry.status) return;
      const { text, status: said } = entry;
      entry.status = undefined;
      entry.sending = this.send(entry, { text, status: said }, options);
    }
    await entry.sending;
  }

  // Changes the tags of a line by a function. Their places are in its text, so that has to be saved as it stands.
  async tag(id, change) {
    const entry = this.entries.get(id);
    const { text } = entry;
    await this.save(id);
    if (entry.state !== "clean" || entry.text !== text.trimEnd())
      throw new Error("The tags were not changed, because the text is not saved yet; try again when it is.");
    entry.sending = this.send(entry, { tags: change(entry.line.tags ?? []) });
    const refusal = await entry.sending;
    if (refusal) throw new Error(refusal);
  }

  // Sends a change of a line, and then what was typed meanwhile; answers with the reason if the change was refused.
  async send(entry, body, options) {
    const { text } = entry;
    let refusal = null;
    entry.state = "saving";
    this.changed();
    try {
      this.accept(entry, await api.putLine(this.id, entry.line.id, entry.line.revision, body, options), text);
    } catch (error) {
      refusal = error.message;
      if (body.tags && entry.text === text) this.tagsRefused(entry, error);
      else this.refused(entry, error, text, body.status);
    }
    this.changed();
    if (entry.state === "typed" || (entry.state === "clean" && entry.status)) await this.save(entry.line.id);
    return refusal;
  }

  accept(entry, line, text) {
    this.failures = 0;
    const isCurrent = entry.text === text;
    Object.assign(entry, {
      line,
      state: isCurrent ? "clean" : "typed",
      sent: [],
      error: null,
      saved: performance.now(),
    });
    if (isCurrent) entry.text = line.text;
    if (isCurrent && !entry.status) this.drafts.drop(line.id);
    else this.keep(entry);
    this.page.lines = this.page.lines.map((other) => (other.id === line.id ? line : other));
  }

  refused(entry, error, text, status) {
    entry.status ??= status;
    this.keep(entry); // again, as another tab may have dropped it
    const theirs = error.answer?.line ?? null;
    if (error.status === 409) {
      // Two windows, or an answer that got lost after the server had saved the text: nothing to choose between.
      if (theirs && isSaved(entry.text, theirs)) this.accept(entry, theirs, text);
      else if (theirs && entry.sent.some((own) => isSaved(own, theirs))) this.accept(entry, theirs, null);
      else {
        const saved = performance.now();
        Object.assign(entry, theirs ? { state: "conflict", theirs, saved } : { state: "gone" }, { error: null });
      }
      return;
    }
    if (error.status === 404) this.load().catch(() => {}); // tells whether the line is gone, or for now its whole page
    Object.assign(entry, { state: "failed", error: error.message, sent: [...entry.sent, text] });
    const wait = RETRIES[Math.min(this.failures++, RETRIES.length - 1)];
    entry.timer = setTimeout(() => this.save(entry.line.id), wait);
  }

  // Nothing was typed, so the line stands as the server has it.
  tagsRefused(entry, error) {
    const theirs = error.answer?.line;
    entry.state = "clean";
    if (theirs) this.accept(entry, theirs, entry.text);
    else if (error.status === 404 || error.status === 409) this.load().catch(() => {}); // the line may be gone
  }

  // Ends a conflict with one of the two texts.
  async settle(id, isMine) {
    const entry = this.entries.get(id);
    entry.line = entry.theirs;
    entry.theirs = null;
    if (isMine) {
      entry.state = "typed";
      this.keep(entry);
      await this.save(id);
    } else {
      Object.assign(entry, { state: "clean", text: entry.line.text, status: undefined });
      this.drafts.drop(id);
      this.changed();
    }
  }

  forget(id) {
    this.entries.delete(id);
    this.drafts.drop(id);
    this.changed();
  }

  async saveAll(options) {
    await Promise.all([...this.entries.keys()].map((id) => this.save(id, undefined, options)));
  }

  // Why a line could not be saved, also while that is tried again.
  get error() {
    const all = [...this.entries.values()];
    const number = (entry) => this.page.lines.findIndex(({ id }) => id === entry.line.id) + 1;
    const conflict = all.find(({ state }) => state === "conflict");
    if (conflict) return `Line ${number(conflict)} was changed elsewhere; choose one of its two texts.`;
    if (all.some(({ state }) => state === "gone"))
      return isUnreadable(this.page)
        ? this.page.error
        : "A line with your text was removed; copy the text or discard it.";
    return all.find(({ error }) => error)?.error;
  }

  // "saved", "saving" or "unsaved"
  get state() {
    if (this.error) return "unsaved";
    const states = [...this.entries.values()].map((entry) => entry.state);
    if (states.some((state) => ["failed", "conflict", "gone"].includes(state))) return "unsaved";
    return states.some((state) => state === "typed" || state === "saving") ? "saving" : "saved";
  }

  // Changes the lines of the page by a call that answers with the whole page.
  async reshape(call) {
    const asked = performance.now();
    const page = await call();
    this.take(page, asked);
    return page.changed ?? [];
  }

  // The same for a call that undoes or redoes a step, which must not be an older one than the text.
  async step(call) {
    await this.saveAll();
    if (this.order.some(({ state }) => state !== "clean"))
      throw new Error(`Undo and redo wait until your text is saved. ${this.error ?? ""}`);
    return this.reshape(call);
  }
}
