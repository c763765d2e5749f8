// The frame: databases, search, views, the inspector.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Database, describe, hasSql, report, start } from "./api";
import { Help } from "./help";
import { Inspector, Referred } from "./inspector";
import { Menu } from "./objects";
import { specs } from "./parts";
import { NARROW } from "./table";
import { numberOf, useInfo, vmOf, when } from "./overview";
import { change, href, linkTo, readRoute, useRoute } from "./route";
import { Search } from "./search";
import { bytes, counted, number, visible } from "./text";
import { views } from "./views";

function keep(name: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function setTheme(theme: string | null): void {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}

// A database as a chip: its name and size; the rest when one points at it.
function Chip({ database, on, view }: { database: Database; on: boolean; view: string }) {
  const { info } = useInfo(String(database.index)),
    d = database;
  const size = info && numberOf(info("objects", "reachable bytes")),
    objects = info && numberOf(info("objects", "objects"));
  const title = [
    d.stale,
    d.incomplete,
    info &&
      [
        vmOf(info),
        when(info("dump", "time")),
        objects !== null && objects !== undefined && `${number(objects)} objects`,
        typeof size === "number" && `${bytes(size)} reachable`,
      ]
        .filter(Boolean)
        .join(" · "),
  ]
    .filter(Boolean)
    .join("\n");
  return (
    <a
      class={on ? "chip on" : "chip"}
      aria-current={on ? "true" : undefined}
      href={href(view, { db: d.index ? String(d.index) : undefined })}
      title={title}
    >
      {visible(d.name.replace(/\.heapdb$/, ""))}
      {d.stale ? " (stale)" : d.incomplete ? " (incomplete)" : ""}{" "}
      <small>{typeof size === "number" ? bytes(size) : "\u2007\u2007\u2007\u2007\u2007\u2007\u2007"}</small>
    </a>
  );
}

const SPARE = 3000; // milliseconds after which the overview has all that it asks for, as a rule

function App({ databases }: { databases: Database[] }) {
  const route = useRoute(),
    [, redraw] = useState(0),
    [help, setHelp] = useState(false),
    [away, setAway] = useState(""),
    [linked, setLinked] = useState(false);
  useEffect(() => {
    const on = (e: Event) => setAway((e as CustomEvent<string>).detail);
    addEventListener("away", on);
    return () => removeEventListener("away", on);
  }, []);
  const copyLink = () =>
    void navigator.clipboard
      .writeText(location.href)
      .then(() => {
        setLinked(true);
        setTimeout(() => setLinked(false), 2000);
      })
      .catch(() => undefined);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const typing = /INPUT|SELECT|TEXTAREA/.test((e.target as HTMLElement).tagName);
      if ((e.key === "k" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey) || (!typing && e.key === "/")) {
        document.getElementById("search")?.focus();
        e.preventDefault();
      }
      if (!typing && e.key === "?" && !report) {
        setHelp((shown) => !shown);
        e.preventDefault();
        return;
      }
      if (e.key === "Escape") {
        if (document.querySelector(".help")) setHelp(false);
        else if (typing) (e.target as HTMLElement).blur();
        else if (readRoute().params.obj) change({ obj: undefined, tab: undefined });
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const at = databases[Number(route.params.db ?? 0)];
  const shown = views.filter((v) =>
    report
      ? !v.needs || report.answers[v.needs]
      : v.name === "android"
        ? at?.android
        : v.name === "sql"
          ? hasSql()
          : v.name !== "compare" || databases.length > 1,
  );
  const view = shown.find((v) => v.name === route.view) ?? shown[0];
  const db = Number(route.params.db ?? 0),
    one = databases[db];
  // The overview needs no descriptions of queries: what it says is there first.
  const needs = view.name !== "overview" || route.params.obj !== undefined,
    isDescribed = specs.size > 0 || report !== null;
  useEffect(() => {
    if (isDescribed) return;
    const load = () =>
      void describe().then(
        (all) => {
          for (const spec of all) specs.set(spec.name, spec);
          redraw((n) => n + 1);
        },
        () => undefined,
      );
    const timer = setTimeout(load, needs ? 0 : SPARE),
      box = document.getElementById("search");
    box?.addEventListener("focus", load);
    return () => {
      clearTimeout(timer);
      box?.removeEventListener("focus", load);
    };
  }, [needs, isDescribed]);
  // The first sentence is what a report is about.
  const sentence = visible(String(report?.answers.leaks?.rows.find((r) => r.suspect !== null && r.text)?.text ?? ""));
  useEffect(() => {
    document.title = report
      ? [sentence, report.title].filter(Boolean).join(" · ")
      : `${view.inner && route.params.target ? route.params.target : view.title} · ${one?.name ?? "heapdb"}`;
  }, [view.title, route.params.target, one?.name]);
  useEffect(() => {
    for (const bar of document.querySelectorAll<HTMLElement>("nav.views, nav.dbs")) {
      const on = bar.querySelector<HTMLElement>("a.on");
      if (on && bar.scrollWidth > bar.clientWidth)
        bar.scrollLeft = on.offsetLeft - bar.offsetLeft - (bar.clientWidth - on.offsetWidth) / 2;
    }
  }, [view.name, db]);
  useEffect(() => {
    if (report && location.hash) document.getElementById(`view-${view.name}`)?.scrollIntoView();
  }, [route]);
  useEffect(() => {
    const narrow = matchMedia(`(max-width: ${NARROW}px)`),
      on = () => redraw((n) => n + 1);
    narrow.addEventListener("change", on);
    return () => narrow.removeEventListener("change", on);
  }, []);
  const toggle = () => {
    const dark =
      document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    setTheme(keep("theme", dark === "dark" ? "light" : "dark") ?? (dark === "dark" ? "light" : "dark"));
    redraw((n) => n + 1);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return (
    <div class={`frame${route.params.obj && !report ? " with" : ""}`}>
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the content
      </a>
      <header>
        <strong>heapdb</strong>
        <nav class="dbs" aria-label="Databases">
          {report ? (
            <span class="chip on">{visible(one?.name ?? "")}</span>
          ) : (
            databases.map((d) => <Chip key={d.index} database={d} on={d.index === db} view={view.name} />)
          )}
        </nav>
        {!report && <Search views={shown.filter((v) => !v.inner)} db={route.params.db} />}
        {!report && (
          <button onClick={copyLink} title="Copy the address of this view" class="link">
            {linked ? "Copied" : "Link"}
          </button>
        )}
        {!report && (
          <button onClick={() => setHelp(!help)} aria-label="Keys and words" title="Keys and words ( ? )">
            ?
          </button>
        )}
        <button onClick={toggle} aria-label="Dark or light" title="Dark or light">
          ◐
        </button>
      </header>
      {away && (
        <p class="gone" role="alert">
          {away}
        </p>
      )}
      <nav class="views" aria-label="Views">
        {shown
          .filter((v) => !v.inner)
          .map((v) => (
            <a class={v === view ? "on" : ""} aria-current={v === view ? "page" : undefined} href={linkTo(v.name)}>
              {v.title}
            </a>
          ))}
      </nav>
      <main id="main" tabIndex={-1} key={report ? "report" : `${view.name}/${db}`}>
        {report ? (
          <>
            <h1>{sentence || visible(report.title)}</h1>
            {sentence && <p class="dim">{visible(report.title)}</p>}
          </>
        ) : (
          <h1 class="unseen">
            {view.inner && route.params.target ? visible(route.params.target) : view.title} of{" "}
            {visible(one?.name ?? "")}
          </h1>
        )}
        {[one?.stale && `Stale: ${one.stale}`, one?.incomplete && `Incomplete: ${one.incomplete}`]
          .filter(Boolean)
          .map((t) => (
            <p class="mark">{visible(String(t))}</p>
          ))}
        {report ? (
          shown.map((v) => (
            <section id={`view-${v.name}`}>
              {v.show({ route: v === view ? route : { view: v.name, params: {} }, databases })}
            </section>
          ))
        ) : !one ? (
          <p class="error" role="alert">
            {`There is no database ${visible(String(route.params.db))}: ${counted(databases.length, "database")} `}
            {databases.length === 1 ? "is open. " : "are open, counted from 0. "}
            <a href={href(view.name, {})}>Show {visible(databases[0]?.name ?? "the first")}</a>
          </p>
        ) : needs && !isDescribed ? (
          <p class="wait" role="status" />
        ) : (
          view.show({ route, databases })
        )}
        {report && <p class="printed dim">The five largest of each kind are printed; the file has more.</p>}
        {report && (
          <p class="dim print">This file is complete and needs no server. `heapdb serve` shows every object.</p>
        )}
      </main>
      <Menu />
      {help && <Help onClose={() => setHelp(false)} />}
      {route.params.obj && one && !report && isDescribed ? (
        route.params.obj.includes(".") ? (
          <Referred key={route.params.obj} route={route} />
        ) : (
          <Inspector key={route.params.obj} route={route} />
        )
      ) : null}
    </div>
  );
}

async function begin(): Promise<void> {
  const root = document.getElementById("app")!;
  setTheme(keep("theme"));
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", `/${location.hash}`);
  root.textContent = "";
  try {
    const databases = await start();
    if (report) for (const spec of report.specs) specs.set(spec.name, spec);
    if (!report) void navigator.serviceWorker?.register("/sw.js").catch(() => undefined);
    render(<App databases={databases} />, root);
  } catch (e) {
    root.textContent = (e as Error).message;
  }
}
void begin();
