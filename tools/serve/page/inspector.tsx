// The drawer that follows the selected object.
import { useEffect, useRef, useState } from "preact/hooks";
import { sourceOf } from "./android";
import { Row } from "./api";
import { Choice } from "./map";
import { numberOf, useInfo } from "./overview";
import { actionsOf, ClassName, classPage, Marks, QueryTable, specs, useAnswer, Wait } from "./parts";
import { change, Route } from "./route";
import { bytes, number, percent, visible } from "./text";

const PAGE = 100, BYTES = 512;

function Pages({ from, step, length, onGo }: { from: number; step: number; length: number; onGo(from: number): void }) {
  if (length <= step) return null;
  return <p class="tools"><button aria-label="Back" disabled={!from} onClick={() => onGo(Math.max(0, from - step))}>‹</button>
    {number(from)} to {number(Math.min(length, from + step) - 1)} of {number(length)} <button aria-label="On" disabled={from + step >= length} onClick={() => onGo(from + step)}>›</button>
    <label>from <input size={7} value={String(from)} onChange={(e) => {
      const to = Number((e.target as HTMLInputElement).value);
      if (to >= 0 && to < length) onGo(Math.floor(to / step) * step);
    }} /></label></p>;
}

// What a value is in bytes or characters, fetched in parts.
function useValue(path: string): ArrayBuffer | string | null {
  const [data, setData] = useState<ArrayBuffer | string | null>(null);
  useEffect(() => {
    let live = true;
    fetch(path).then(async (r) => {
      const found = r.ok ? await r.arrayBuffer() : String((await r.json()).error?.message);
      if (live) setData(found);
    }).catch(() => { if (live) setData("The server does not answer."); });
    return () => { live = false; };
  }, [path]);
  return data;
}

// Bytes as a dump shows them: place, hexadecimal, characters.
function hexOf(data: Uint8Array, from: number): string {
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 16) {
    const part = [...data.subarray(at, at + 16)];
    lines.push(`${(from + at).toString(16).padStart(6, "0")}  ${part.map((b) => b.toString(16).padStart(2, "0")).join(" ").padEnd(47)}  ${part.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : ".")).join("")}`);
  }
  return lines.join("\n");
}

function Hex({ db, id, length }: { db?: string; id: string; length: number }) {
  const [from, setFrom] = useState(0);
  const data = useValue(`/api/value?db=${db ?? 0}&id=${id}&from=${from}&count=${BYTES}`);
  return <><Pages from={from} step={BYTES} length={length} onGo={setFrom} />
    {typeof data === "string" ? <p class="error">{visible(data)}</p> : <pre class="value hex">{data ? hexOf(new Uint8Array(data), from) : ""}</pre>}</>;
}

const TEXT = 4096;

// The text of bytes (as UTF-8) and of characters (numbers, one a line); of a string its first characters are a fact.
function Text({ db, id, klass, length }: { db?: string; id: string; klass: string; length: number }) {
  const [from, setFrom] = useState(0), isArray = klass.endsWith("[]");
  const data = useValue(`/api/value?db=${db ?? 0}&id=${id}${isArray ? `&from=${from}&count=${TEXT}` : ""}`);
  let text = "";
  if (data instanceof ArrayBuffer) {
    text = new TextDecoder().decode(data);
    if (klass === "char[]") text = text.split("\n").filter(Boolean).map((n) => String.fromCharCode(Number(n))).join("");
  }
  const whole = isArray ? length : text.length, shown = isArray ? text : text.slice(from, from + TEXT);
  return <><Pages from={from} step={TEXT} length={whole} onGo={setFrom} />
    {typeof data === "string" ? <p class="error">{visible(data)}</p> : <pre class="value long">{visible(shown)}</pre>}</>;
}

function Bitmap({ db, id }: { db?: string; id: string }) {
  const asked = useAnswer(specs.has("bitmaps") ? "bitmaps" : "", { db, limit: "100000" });
  const row = asked.answer?.rows.find((r) => r.id === id), source = row ? sourceOf(row, db) : null;
  if (!source) return asked.answer ? <p class="dim">The dump does not have the pixels of this bitmap.</p> : null;
  return <p><a href={source}><img class="bitmap" src={source} alt={`bitmap ${id}`} /></a></p>;
}

// In place: what an object is, not its identifier.
const valueOf = (row: Row): Row => (row.ref ? { ...row, value: row.label, value_id: row.ref } : row);

// What has a plain value is that, everything else its class and what it is.
const entryOf = (row: Row): Row => ({ ...row, key: row.key ?? row.key_label, value: row.value ?? row.value_label });

const PATHS = 10;
const FACTS: [string, string][] = [["heap", "Heap"], ["loader", "Class loader"], ["allocated_at", "Allocated at"], ["flat_in", "Value inside of"]];

export function Inspector({ route }: { route: Route }) {
  const { db, obj } = route.params;
  const [from, setFrom] = useState(0), [paths, setPaths] = useState("1"), [internals, setInternals] = useState(false), box = useRef<HTMLElement>(null);
  const asked = useAnswer("object", { db, target: obj, limit: "1" }), { info } = useInfo(db);
  const f = asked.answer?.facts, heap = info ? numberOf(info("objects", "reachable bytes")) : null;
  const close = () => change({ obj: undefined, tab: undefined });
  const params = { db, target: obj };
  const klass = String(f?.class ?? ""), length = Number(f?.length ?? 0), isArray = f?.kind === "object array" || f?.kind === "primitive array";
  const holds = f !== undefined && !isArray && /^size=/.test(String(f.value ?? ""));
  const hasValue = f?.kind === "primitive array" || (f?.kind === "instance" && f.value !== null && f.value !== undefined && !holds);
  const isText = klass === "byte[]" || klass === "char[]" || (klass === "java.lang.String" && hasValue);
  const tabs = [["fields", isArray ? "Elements" : "Fields"], ...(holds ? [["contents", "Contents"]] : []), ...(isText ? [["text", "Text"]] : []), ...(klass === "byte[]" ? [["hex", "Hex"]] : []),
    ["referrers", "Referrers"], ["path", "Path"], ["paths", "Merged paths"], ["dominated", "Dominated"]];
  const tab = tabs.some(([name]) => name === route.params.tab) ? route.params.tab : holds ? "contents" : "fields";
  const target = f?.kind === "class" ? String(f.value ?? klass) : klass, retained = Number(f?.retained ?? 0);
  const share = heap && f?.reachable !== false ? (100 * retained) / heap : null;
  const onTab = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const names = tabs.map(([name]) => name), to = names[(names.indexOf(tab) + step + names.length) % names.length];
    change({ tab: to }, true);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus());
    e.preventDefault();
  };
  return <aside class="inspector" aria-label="Selected object" ref={box}>
    <button class="close" aria-label="Close" title="Close (Escape)" onClick={close}>×</button>
    {!f && <h2>{visible(obj)}</h2>}
    <Wait asked={asked} what="the object" />
    {f && <>
      <h2><ClassName name={klass} /></h2>
      <p class="id"><code>{obj}</code> <button onClick={() => void navigator.clipboard.writeText(obj)}>copy</button>
        {hasValue && <> <a class="download" href={`/api/value?db=${db ?? 0}&id=${obj}`} download="">download the value</a></>}</p>
      {f.value !== undefined && f.value !== null && <pre class="value">{visible(String(f.value))}</pre>}
      {klass === "android.graphics.Bitmap" && <Bitmap db={db} id={obj} />}
      <Marks facts={f} />
      <dl class="facts">
        <div><dt>Retained size</dt><dd title={f.reachable === false ? undefined : `${number(retained)} bytes`}>{f.reachable === false ? "unreachable: no GC root leads to it" : typeof f.retained !== "number" ? "not known yet" : <b>{bytes(retained)}</b>}{share !== null && share >= 0.05 ? ` · ${percent(share)} of the heap` : ""}</dd></div>
        <div><dt>Shallow size</dt><dd title={`${number(Number(f.shallow ?? 0))} bytes`}>{bytes(Number(f.shallow ?? 0))}</dd></div>
        {typeof f.native === "number" && f.native > 0 && <div><dt>Native memory</dt><dd>{bytes(f.native)}</dd></div>}
        <div><dt>Kind</dt><dd>{String(f.kind)}{length > 0 ? `, ${number(length)} elements` : ""}</dd></div>
        {f.roots ? <div><dt>GC root</dt><dd>{String(f.roots)}</dd></div> : null}
        {typeof f.depth === "number" && f.depth > 0 && <div><dt>From a root</dt><dd>{number(f.depth)} {f.depth === 1 ? "step" : "steps"}</dd></div>}
        {FACTS.map(([name, title]) => (f[name] ? <div><dt>{title}</dt><dd>{visible(String(f[name]))}</dd></div> : null))}
      </dl>
      <p class="acts"><a href={classPage(target)}>Others of this class</a> · <a href={classPage(target, "paths")}>paths to all of them</a>
        {actionsOf(obj).slice(3).map(([name, to]) => <> · <a href={to}>{name.toLowerCase().replace("sql", "SQL")}</a></>)}</p>
      <nav class="tabs" role="tablist" onKeyDown={onTab}>{tabs.map(([name, title]) => <button role="tab" aria-selected={tab === name} tabIndex={tab === name ? 0 : -1} class={tab === name ? "on" : ""}
        onClick={() => change({ tab: name }, true)}>{title}</button>)}</nav>
      {tab === "fields" && <><Pages from={from} step={PAGE} length={length} onGo={setFrom} />
        <QueryTable query="object" params={{ ...params, from: from ? String(from) : undefined }} limit={isArray ? PAGE : undefined} what="fields" columns={["name", "value", "type", "class"]} each={valueOf}
          empty={isArray ? "The array is empty." : "It has no fields."} /></>}
      {tab === "contents" && <QueryTable query="entries" params={params} what="entries" columns={["no", "key", "value", "retained"]} titles={{ key: "key", value: "value" }} each={entryOf} empty="The collection is empty." />}
      {tab === "text" && <Text db={db} id={obj} klass={klass} length={length} />}
      {tab === "hex" && <Hex db={db} id={obj} length={length} />}
      {tab === "referrers" && <QueryTable query="referrers" params={params} what="referrers" columns={["label", "name", "strength", "retained"]} empty="Nothing refers to it." />}
      {tab === "path" && <><div class="tools"><Choice label="Show" value={paths} choices={[["1", "the shortest path"], [String(PATHS), `up to ${PATHS} paths, each from another root`]]} onChange={setPaths} />
        <label title="entries, tables and inner maps of known collections"><input type="checkbox" checked={internals} onChange={(e) => setInternals((e.target as HTMLInputElement).checked)} /> insides of collections</label></div>
        <QueryTable query="path" params={{ ...params, all: paths === "1" ? undefined : paths, internals: internals ? "1" : undefined }} what="path to a GC root" columns={paths === "1" ? ["step", "label", "via_field", "retained", "root"] : ["path", "step", "label", "via_field", "retained", "root"]}
          empty="No GC root reaches it, or only through weak, soft, phantom or final references: Merged paths has those, too." /></>}
      {tab === "paths" && <QueryTable query="merged-paths" params={{ ...params, exclude: "none" }} what="merged paths" columns={["level", "name", "objects", "below_shallow", "id"]} />}
      {tab === "dominated" && <QueryTable query="dominators" params={params} what="dominated objects" columns={["label", "shallow", "retained", "percent"]} empty="It dominates no other object: without it nothing else would be freed." />}
    </>}
  </aside>;
}
