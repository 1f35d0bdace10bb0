// The application: which screen is shown, and the bar above all of them.

import * as api from "./api.js";
import { Export } from "./dialogs/export.js";
import { Keys } from "./dialogs/keys.js";
import { Learn, learningState } from "./dialogs/learn.js";
import { Name } from "./dialogs/name.js";
import { Share } from "./dialogs/share.js";
import { listen, useEvents } from "./events.js";
import { cutName, isGoing } from "./format.js";
import { Hints } from "./hints.js";
import { html } from "./html.js";
import { Layout } from "./layout/layout.js";
import { Overview } from "./overview/overview.js";
import { Page } from "./page/page.js";
import { Dots, usePeople } from "./people.js";
import { useRoute } from "./route.js";
import { showTheme, THEMES, useSetting } from "./settings.js";
import { useEffect, useRef, useState } from "./vendor/hooks.js";
import { render } from "./vendor/preact.js";

const AWAY = "No server";
const RELOAD = 500; // ms; one change may bring many events
const STATES = {
  saved: "Saved",
  saving: "Saving…",
  unsaved: "Not saved; kept in this browser",
};

// `unsaved` is the reason why a line, `history` why the history could not be written.
function saying(state, unsaved, { history_error: history, disk_error: disk }) {
  if (state === "unsaved" && unsaved) return `Not saved, kept in this browser. ${unsaved}`;
  if (state === "saved" && disk) return `Saved; ${disk}`;
  if (state === "saved" && history) return `Saved, but the history cannot be written: ${history}`;
  return STATES[state];
}

const pathOf = (page, isLayout) => `/p/${page}${isLayout ? "/layout" : ""}`;

function App() {
  const route = useRoute();
  const [status, setStatus] = useState(null);
  const [jobs, setJobs] = useState([]);
  const [lost, setLost] = useState(null); // why there is no connection to the server
  const [dialog, setDialog] = useState(null);
  const [theme, setTheme] = useSetting("theme", "auto");
  const [selection, setSelection] = useState([]);
  const [words, setWords] = useState(""); // searched for
  const [person, setPerson] = useSetting("name", null);
  const [line, setLine] = useState(null); // at the caret
  const people = usePeople(route.page, route.page && line);
  const last = useRef(null); // the page shown last
  const version = useRef(null); // of these scripts
  const timer = useRef(0);
  if (route.page) last.current = route.page;

  const load = () =>
    api.status().then(
      (told) => {
        version.current ??= told.version;
        setStatus(told);
        setJobs(told.jobs);
        setLost(null);
      },
      ({ status: refusal, message }) => setLost(refusal ? message : AWAY),
    );
  const reload = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(load, RELOAD);
  };
  useEffect(() => {
    listen();
    load();
  }, []);
  useEffect(() => showTheme(theme), [theme]);
  useEvents({
    status: load,
    page: reload,
    job: (job) => setJobs((known) => [job, ...known.filter(({ id }) => id !== job.id)]),
    lost: () => {
      setLost((known) => known ?? AWAY);
      load(); // its error gives the reason, which a stream does not
    },
    connected: load,
  });
  if (!status) {
    return lost
      ? html`<main class="notice"><p>${lost === AWAY ? "The server does not respond. Start drethtr edit again; this page will continue by itself." : lost}</p></main>`
      : html`<main class="overview" aria-busy="true"><h1 class="skeleton"> </h1></main>`;
  }
  const toolbar = ({ name, previous, next, state, unsaved, page, isLayout }) => html`
    <header class="bar">
      <nav aria-label="Pages">
        ${
          route.page
            ? html`<a class="home" href="/" aria-label=${`All pages of ${status.folder}`}>${status.folder}</a>`
            : html`<span class="home">drethtr</span>`
        }
        ${
          name &&
          html`<span class="where" title=${name}>${cutName(name).map((part) => html`<span>${part}</span>`)}</span>
          <a class="turn" href=${previous ? pathOf(previous, isLayout) : null} aria-disabled=${!previous} role="link" title="Alt+Page up" aria-label="Previous page">‹</a>
          <a class="turn" href=${next ? pathOf(next, isLayout) : null} aria-disabled=${!next} role="link" title="Alt+Page down" aria-label="Next page">›</a>`
        }
      </nav>
      <span class="gap" />
      ${
        lost
          ? html`<span class="saved" role="status" data-state="unsaved">${lost}; your changes are kept in this browser</span>`
          : state &&
            html`<span class="saved" role="status" data-state=${state}>${saying(state, unsaved, status)}</span>`
      }
      ${status.role === "read" && html`<span class="hint">Read only</span>`}
      <${Dots} people=${people.filter((one) => one.page === route.page)} />
      <div class="acts">
      ${status.role === "manage" && html`<button type="button" title="Train the model on the lines you have confirmed" onClick=${() => setDialog("learn")}>${learningState(status.learn, jobs)}</button>`}
      <button type="button" title="Texts, editions and files for archives" onClick=${() => setDialog({ page })}>Export</button>
      ${status.links && html`<button type="button" title="Addresses with which others can read or correct this folder" onClick=${() => setDialog("share")}>Share</button>`}
      <button type="button" title="What each key does" onClick=${() => setDialog("keys")}>Keys</button>
      ${status.role !== "read" && html`<button type="button" title="Your name, for the history" onClick=${() => setDialog("name")}>${person || status.user}</button>`}
      <button type="button" class="theme" aria-label=${`Colors: ${theme}`} title=${`Colors: ${theme}`}
        onClick=${() => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])}>${{ auto: "◐", light: "☀", dark: "☾" }[theme]}</button>
      </div>
    </header>
    ${status.version !== version.current && html`<aside class="hints" role="status">The server now runs drethtr ${status.version}, this tab ${version.current}: reload the tab once your text is saved.</aside>`}
    ${name && html`<${Hints} isAsked=${route.hasHints} />`}`;
  const isReading = jobs.some((job) => job.kind === "read" && isGoing(job));
  const close = () => setDialog(null);
  return html`
    ${
      route.isLayout && status.role !== "read"
        ? html`<${Layout} key=${`layout ${route.page}`} id=${route.page} wanted=${route} status=${status} toolbar=${toolbar} />`
        : route.page
          ? html`<${Page} key=${route.page} id=${route.page} wanted=${route} status=${status} isReading=${isReading} people=${people} onLine=${setLine} toolbar=${toolbar} />`
          : html`${toolbar({})}<${Overview} status=${status} jobs=${jobs} people=${people} selection=${selection} select=${setSelection}
          words=${words} search=${setWords} last=${last.current} take=${() => setDialog({})} />`
    }
    ${dialog === "learn" && html`<${Learn} status=${status} jobs=${jobs} close=${close} />`}
    ${dialog === "share" && html`<${Share} links=${status.links} close=${close} />`}
    ${
      (dialog === "name" || (person === null && status.shared && status.role !== "read")) &&
      html`<${Name} name=${person || ""} usual=${status.user} set=${setPerson} close=${close} />`
    }
    ${dialog === "keys" && html`<${Keys} isLayout=${route.isLayout} close=${close} />`}
    ${dialog && typeof dialog === "object" ? html`<${Export} page=${dialog.page} selection=${selection} role=${status.role} close=${close} />` : null}`;
}

render(html`<${App} />`, document.body);
