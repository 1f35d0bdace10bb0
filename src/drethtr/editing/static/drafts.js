// Changes of lines that the server does not have yet, kept in this browser: a crash of either loses nothing.

const PREFIX = "drethtr.draft.";

export class Drafts {
  // `folder` is the id of the folder; several may be edited at the same address, one after the other.
  constructor(folder, page, storage = localStorage) {
    this.prefix = `${PREFIX}${JSON.stringify([folder, page]).slice(1, -1)}.`;
    this.storage = storage;
  }

  // `revision` is that of the line the text was made from, `status` the one that a person gave it, if any.
  keep(line, text, revision, status) {
    try {
      this.storage.setItem(this.prefix + line, JSON.stringify({ text, revision, status }));
    } catch {
      // The storage is full or forbidden; it is still sent to the server after a pause.
    }
  }

  drop(line) {
    try {
      this.storage.removeItem(this.prefix + line);
    } catch {
      // Nothing was kept.
    }
  }

  // {text, revision, status} by line.
  all() {
    const found = new Map();
    try {
      for (let place = 0; place < this.storage.length; place++) {
        const key = this.storage.key(place);
        const draft = key.startsWith(this.prefix) ? parsed(this.storage.getItem(key)) : null;
        if (typeof draft?.text === "string") found.set(key.slice(this.prefix.length), draft);
      }
    } catch {
      // As if nothing had been kept.
    }
    return found;
  }
}

// The value of some JSON; null if it is damaged.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
