// The frame: databases, search, views, the inspector.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Database, hasSql, report, start } from "./api";
import { Inspector } from "./inspector";
import { Menu, specs } from "./parts";
import { change, href, linkTo, readRoute, useRoute } from "./route";
import { visible } from "./text";
import { views } from "./views";

function keep(name: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch { return null; }
}

function setTheme(theme: string | null): void {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}

function App({ databases }: { databases: Database[] }) {
  const route = useRoute(), search = useRef<HTMLInputElement>(null);
  const [, redraw] = useState(0);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const typing = /INPUT|SELECT|TEXTAREA/.test((e.target as HTMLElement).tagName);
      if (e.key === "/" && !typing) { search.current?.focus(); e.preventDefault(); }
      if (e.key === "Escape") {
        if (typing) (e.target as HTMLElement).blur();
        else if (readRoute().params.obj) change({ obj: undefined, tab: undefined });
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const at = databases[Number(route.params.db ?? 0)];
  const shown = views.filter((v) => (report ? !v.needs || report.answers[v.needs] : v.name === "android" ? at?.android : v.name === "sql" ? hasSql() : v.name !== "compare" || databases.length > 1));
  const view = shown.find((v) => v.name === route.view) ?? shown[0];
  const db = Number(route.params.db ?? 0), one = databases[db];
  useEffect(() => { document.title = report ? report.title : `${view.title} · ${one?.name ?? "heapdb"}`; }, [view.title, one?.name]);
  useEffect(() => { if (report && location.hash) document.getElementById(`view-${view.name}`)?.scrollIntoView(); }, [route]);
  const find = (value: string) => {
    const text = value.trim();
    if (/^0x[0-9a-f]+$/i.test(text)) change({ obj: text.toLowerCase(), tab: undefined });
    else if (text) location.hash = linkTo("histogram", { target: /[*?]/.test(text) ? text : `*${text}*` });
  };
  const toggle = () => {
    const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    setTheme(keep("theme", dark === "dark" ? "light" : "dark") ?? (dark === "dark" ? "light" : "dark"));
    redraw((n) => n + 1);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return <div class={`frame${route.params.obj && !report ? " with" : ""}`}>
    <header>
      <strong>heapdb</strong>
      <nav class="dbs" aria-label="Databases">{databases.map((d) => <a class={d.index === db ? "chip on" : "chip"} href={href(view.name, { db: d.index ? String(d.index) : undefined })}
        title={d.stale ?? d.incomplete ?? ""}>{visible(d.name)}{d.stale ? " (stale)" : d.incomplete ? " (incomplete)" : ""}</a>)}</nav>
      {!report && <input ref={search} type="search" placeholder="Class, pattern or 0x… ( / )" aria-label="Search"
        onKeyDown={(e) => { if (e.key === "Enter") find((e.target as HTMLInputElement).value); }} />}
      <button onClick={toggle} aria-label="Dark or light" title="Dark or light">◐</button>
    </header>
    <nav class="views" aria-label="Views">{shown.map((v) => <a class={v === view ? "on" : ""} aria-current={v === view ? "page" : undefined} href={linkTo(v.name)}>{v.title}</a>)}</nav>
    <main key={report ? "report" : `${view.name}/${db}`}>{report ? <h1>{visible(report.title)}</h1> : null}
      {[one?.stale && `Stale: ${one.stale}`, one?.incomplete && `Incomplete: ${one.incomplete}`].filter(Boolean).map((t) => <p class="mark">{visible(String(t))}</p>)}
      {report ? shown.map((v) => <section id={`view-${v.name}`}>{v.show({ route: v === view ? route : { view: v.name, params: {} }, databases })}</section>) : view.show({ route, databases })}
      {report && <p class="dim print">This file is whole in itself: it asks nobody. `heapdb serve` shows every object.</p>}</main>
    <Menu />
    {route.params.obj && !report ? <Inspector key={route.params.obj} route={route} /> : null}
  </div>;
}

async function begin(): Promise<void> {
  const root = document.getElementById("app")!;
  setTheme(keep("theme"));
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", `/${location.hash}`);
  root.textContent = "";
  try {
    const known = await start();
    for (const spec of known.specs) specs.set(spec.name, spec);
    render(<App databases={known.databases} />, root);
  } catch (e) {
    root.textContent = (e as Error).message;
  }
}
void begin();
