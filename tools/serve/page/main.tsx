// The application: header, list of views, current view, inspector.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Database, Failure, hasFile, hasSql, report, start, watchFiles } from "./api";
import { Databases, HeaderMore, ViewList } from "./frame";
import { load, rest } from "./rest";
import { Props, views } from "./list";
import { copyNames, Item, Menu } from "./objects";
import { Overview } from "./overview";
import { NARROW } from "./parts";
import { change, href, readRoute, Route, useRoute } from "./route";
import { Search } from "./search";
import { shareView } from "./share";
import { counted, visible } from "./text";

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

declare const REPORT: boolean; // see api.ts
const SPARE = 3000; // milliseconds; by then the overview has usually finished loading

const show = (view: string, p: Props) => (view === "overview" ? <Overview {...p} /> : rest!.shows[view](p));

// Scroll positions, restored by the back and forward buttons. A view reaches its height only when its answers have
// arrived.
const places = new Map<string, number>(),
  TRIES = 40; // maximum number of attempts, 50 milliseconds apart
let isBack = false;
(window as unknown as { navigation?: EventTarget }).navigation?.addEventListener("navigate", (e) => {
  places.set(location.hash, scrollY);
  isBack = (e as Event & { navigationType?: string }).navigationType === "traverse";
});

function useScroll(route: Route): void {
  useEffect(() => {
    const to = places.get(location.hash);
    if (!isBack || !to) return;
    let tries = 0;
    const stop = () => clearInterval(timer),
      timer = setInterval(() => {
        scrollTo(0, to);
        if (Math.abs(scrollY - to) < 2 || ++tries > TRIES) stop();
      }, 50);
    addEventListener("wheel", stop, { once: true });
    return stop;
  }, [route]);
}

function App({ databases }: { databases: Database[] }) {
  const route = useRoute(),
    [, redraw] = useState(0),
    [help, setHelp] = useState(false),
    [failed, setFailed] = useState<Error | null>(null), // error that kept the other views from loading
    [away, setAway] = useState(""),
    [replaced, setReplaced] = useState(databases.filter((d) => d.replaced).map((d) => d.index)),
    [listed, setListed] = useState(false); // on a phone: whether the list of views is open
  useEffect(() => {
    const on = (e: Event) => setAway((e as CustomEvent<string>).detail);
    addEventListener("away", on);
    return () => removeEventListener("away", on);
  }, []);
  useEffect(() => watchFiles(setReplaced), []);
  useScroll(route);
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
        setListed(false);
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
      ? v.files?.some(hasFile) ||
        !v.needs ||
        (report.answers[v.needs] && (v.name !== "problems" || report.answers.problems.row_count > 0))
      : v.name === "android"
        ? at?.android
        : v.files
          ? v.files.some(hasFile)
          : v.name === "sql"
            ? hasSql()
            : v.name !== "compare" || databases.length > 1,
  );
  const view = shown.find((v) => v.name === route.view) ?? shown[0],
    isNarrow = innerWidth <= NARROW && !report;
  useEffect(() => setListed(false), [route]);
  const db = Number(route.params.db ?? 0),
    one = databases[db];
  // After a link or the search led to another view, the next Tab goes to its content.
  const place = `${view.name} ${db} ${route.params.target}`,
    lastPlace = useRef(place);
  useEffect(() => {
    if (lastPlace.current !== place && document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true });
    lastPlace.current = place;
  }, [place]);
  // The overview needs neither the other views nor the descriptions of queries, so they load after it.
  const needs = view.name !== "overview" || route.params.obj !== undefined || help,
    isLoaded = rest !== undefined,
    extra = rest?.extra;
  const fill = () => {
    setFailed(null);
    load().then(() => redraw((n) => n + 1), setFailed);
  };
  useEffect(() => {
    if (isLoaded) return;
    const timer = setTimeout(fill, needs ? 0 : SPARE),
      box = document.getElementById("search");
    box?.addEventListener("focus", fill);
    return () => {
      clearTimeout(timer);
      box?.removeEventListener("focus", fill);
    };
  }, [needs, isLoaded]);
  // The title of a report begins with the sentence of its first leak suspect.
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
  const more: Item[] = [
    ["Share as one HTML file", () => void shareView((one?.name ?? "").replace(/\.heapdb$/, ""), view.title)],
    ["Keys and terms", () => setHelp(true)],
    ["Dark or light", toggle],
  ];
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
        Skip to content
      </a>
      <header>
        {isNarrow ? (
          <button class="list" aria-expanded={listed} aria-controls="views" onClick={() => setListed(!listed)}>
            ☰ {view.title}
          </button>
        ) : (
          <strong>heapdb</strong>
        )}
        {!report && !isNarrow && <Databases databases={databases} db={db} view={view.name} />}
        {REPORT ? (
          <button onClick={toggle} aria-label="Dark or light" title="Dark or light">
            ◐
          </button>
        ) : (
          <>
            <Search views={shown.filter((v) => !v.inner)} db={route.params.db} />
            <HeaderMore items={more} />
          </>
        )}
      </header>
      {away && (
        <p class="gone" role="alert">
          {away}
        </p>
      )}
      <div class={report ? "lists contents" : "lists"} hidden={isNarrow && !listed}>
        {isNarrow && <Databases databases={databases} db={db} view={view.name} />}
        <ViewList views={shown} view={view} db={one ? route.params.db : undefined} />
      </div>
      <main id="main" tabIndex={-1} key={report ? "report" : `${view.name}/${db}`}>
        {report ? (
          <h1>{visible(report.title)}</h1>
        ) : (
          <div class={view.inner ? "head unseen" : "head"}>
            <h1>
              {view.inner && route.params.target ? visible(route.params.target) : view.title}
              <span class="unseen"> of {visible(one?.name ?? "")}</span>
            </h1>
            <p class="dim">
              {view.line}
              {isNarrow && databases.length > 1 && <> · {visible((one?.name ?? "").replace(/\.heapdb$/, ""))}</>}
            </p>
          </div>
        )}
        {[
          one &&
            replaced.includes(one.index) &&
            "Replaced: another file now has the name of this database. The page still shows the old file; " +
              "restart the server to see the new one.",
          !shown.some((v) => v.name === route.view) &&
            `This database has no view “${visible(route.view)}”: this is the overview.`,
          one?.stale && `Stale: ${one.stale}`,
          one?.incomplete && `Incomplete: ${one.incomplete}`,
        ]
          .filter(Boolean)
          .map((t) => (
            <p class="mark">{visible(String(t))}</p>
          ))}
        {failed && needs && !isLoaded && (
          <p class="error" role="alert">
            The rest of the page is not loaded: {failed.message}{" "}
            {/* Some browsers do not load a script again that has failed once. */}
            <button onClick={() => (failed instanceof Failure ? fill() : location.reload())}>Try again</button>
          </p>
        )}
        {report ? (
          shown.map((v) => (
            <section id={`view-${v.name}`}>
              {v.name !== "overview" && <h2 class="title">{v.title}</h2>}
              {show(v.name, { route: v === view ? route : { view: v.name, params: {} }, databases })}
            </section>
          ))
        ) : !one ? (
          <p class="error" role="alert">
            {`There is no database ${visible(String(route.params.db))}: ${counted(databases.length, "database")} `}
            {databases.length === 1 ? "is open. " : "are open, numbered from 0. "}
            <a href={href(view.name, {})}>Show {visible(databases[0]?.name ?? "the first")}</a>
          </p>
        ) : view.name !== "overview" && !isLoaded ? (
          !failed && (
            <p class="wait" role="status">
              Loading {view.title} …
            </p>
          )
        ) : (
          show(view.name, { route, databases })
        )}
        {report && <p class="printed dim">Only the first rows of each list are printed. The file contains more.</p>}
        {report && (
          <p class="dim print">This file is complete and needs no server. `heapdb serve` shows every object.</p>
        )}
      </main>
      <Menu />
      {help && extra && <extra.Help onClose={() => setHelp(false)} />}
      {route.params.obj && one && extra ? (
        route.params.obj.includes(".") ? (
          <extra.FieldTarget key={route.params.obj} route={route} />
        ) : (
          <extra.Inspector key={route.params.obj} route={route} />
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
    if (report) await load();
    addEventListener("copy", copyNames);
    if (!report) void navigator.serviceWorker?.register("/sw.js").catch(() => undefined);
    render(<App databases={databases} />, root);
  } catch (e) {
    root.textContent = (e as Error).message;
  }
}
void begin();
