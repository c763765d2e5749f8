// The drawer that follows the selected object.
import { useEffect, useState } from "preact/hooks";
import { actionsOf, Marks, Name, QueryTable, useAnswer, Wait } from "./parts";
import { change, linkTo, Route } from "./route";
import { bytes, number, visible } from "./text";

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

// Bytes as a dump shows them: place, hexadecimal, characters.
function Hex({ db, id, length }: { db?: string; id: string; length: number }) {
  const [from, setFrom] = useState(0);
  const [data, setData] = useState<Uint8Array | string | null>(null);
  useEffect(() => {
    let live = true;
    fetch(`/api/value?db=${db ?? 0}&id=${id}&from=${from}&count=${BYTES}`).then(async (r) => {
      const found = r.ok ? new Uint8Array(await r.arrayBuffer()) : String((await r.json()).error?.message);
      if (live) setData(found);
    }).catch(() => { if (live) setData("The server does not answer."); });
    return () => { live = false; };
  }, [db, id, from]);
  const lines: string[] = [];
  if (data instanceof Uint8Array)
    for (let at = 0; at < data.length; at += 16) {
      const part = [...data.subarray(at, at + 16)];
      lines.push(`${(from + at).toString(16).padStart(6, "0")}  ${part.map((b) => b.toString(16).padStart(2, "0")).join(" ").padEnd(47)}  ${part.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : ".")).join("")}`);
    }
  return <><Pages from={from} step={BYTES} length={length} onGo={setFrom} />
    {typeof data === "string" ? <p class="error">{visible(data)}</p> : <pre class="value hex">{lines.join("\n")}</pre>}</>;
}

export function Inspector({ route }: { route: Route }) {
  const { db, obj } = route.params;
  const [from, setFrom] = useState(0);
  const asked = useAnswer("object", { db, target: obj, limit: "1" });
  const f = asked.answer?.facts;
  const close = () => change({ obj: undefined, tab: undefined });
  const params = { db, target: obj };
  const klass = String(f?.class ?? ""), length = Number(f?.length ?? 0), isBytes = klass === "byte[]", isArray = f?.kind === "object array" || f?.kind === "primitive array";
  const holds = f !== undefined && !isArray && /^size=/.test(String(f.value ?? ""));
  const hasValue = f?.kind === "primitive array" || (f?.kind === "instance" && f.value !== null && f.value !== undefined && !holds);
  const tabs = [["fields", isArray ? "Elements" : "Fields"], ...(holds ? [["contents", "Contents"]] : []), ...(isBytes ? [["hex", "Hex"]] : []),
    ["referrers", "Referrers"], ["path", "Path"], ["paths", "Merged paths"], ["dominated", "Dominated"]];
  const tab = tabs.some(([name]) => name === route.params.tab) ? route.params.tab : holds ? "contents" : "fields";
  const target = f?.kind === "class" ? String(f.value ?? klass) : klass;
  return <aside class="inspector" aria-label="Selected object">
    <button class="close" aria-label="Close" onClick={close}>×</button>
    {!f && <h2>{obj}</h2>}
    <Wait asked={asked} what="the object" />
    {f && <>
      <h2><Name text={klass} /></h2>
      <p class="id"><code>{obj}</code> <button onClick={() => void navigator.clipboard.writeText(obj)}>copy</button>
        {hasValue && <> <a class="download" href={`/api/value?db=${db ?? 0}&id=${obj}`} download="">download the value</a></>}</p>
      {f.value !== undefined && f.value !== null && <pre class="value">{visible(String(f.value))}</pre>}
      <Marks facts={f} />
      <dl class="facts">
        <div><dt>Kind</dt><dd>{String(f.kind)}</dd></div>
        <div><dt>Shallow size</dt><dd>{bytes(Number(f.shallow ?? 0))}</dd></div>
        <div><dt>Retained size</dt><dd title={number(Number(f.retained ?? 0))}>{f.reachable === false ? "unreachable" : bytes(Number(f.retained ?? 0))}</dd></div>
        {length > 0 && <div><dt>Length</dt><dd>{number(length)}</dd></div>}
        {f.roots ? <div><dt>GC root</dt><dd>{String(f.roots)}</dd></div> : null}
        {f.loader ? <div><dt>Class loader</dt><dd>{visible(String(f.loader))}</dd></div> : null}
      </dl>
      <p class="acts"><a href={linkTo("all", { q: "instances", target })}>Others of this class</a> · <a href={linkTo("paths", { target })}>paths to all of them</a>
        {actionsOf(obj).slice(3).map(([name, to]) => <> · <a href={to}>{name.toLowerCase().replace("sql", "SQL")}</a></>)}</p>
      <nav class="tabs" role="tablist">{tabs.map(([name, title]) => <button role="tab" aria-selected={tab === name} class={tab === name ? "on" : ""}
        onClick={() => change({ tab: name }, true)}>{title}</button>)}</nav>
      {tab === "fields" && <><Pages from={from} step={PAGE} length={length} onGo={setFrom} />
        <QueryTable query="object" params={{ ...params, from: from ? String(from) : undefined }} limit={isArray ? PAGE : undefined} what="fields" columns={["name", "label", "value", "type"]} /></>}
      {tab === "contents" && <QueryTable query="entries" params={params} what="entries" columns={["no", "key", "value", "retained", "value_id", "key_id"]} />}
      {tab === "hex" && <Hex db={db} id={obj} length={length} />}
      {tab === "referrers" && <QueryTable query="referrers" params={params} what="referrers" columns={["label", "name", "strength", "retained"]} />}
      {tab === "path" && <QueryTable query="path" params={params} what="path to a GC root" columns={["step", "label", "via_field", "retained", "root"]} />}
      {tab === "paths" && <QueryTable query="merged-paths" params={{ ...params, exclude: "none" }} what="merged paths" columns={["level", "name", "objects", "below_shallow", "id"]} />}
      {tab === "dominated" && <QueryTable query="dominators" params={params} what="dominated objects" columns={["label", "shallow", "retained", "percent"]} />}
    </>}
  </aside>;
}
