// The drawer that follows the selected object.
import { useState } from "preact/hooks";
import { Marks, Name, QueryTable, useAnswer, Wait } from "./parts";
import { change, linkTo, Route } from "./route";
import { bytes, number, visible } from "./text";

const tabs = [["fields", "Fields"], ["contents", "Contents"], ["referrers", "Referrers"], ["path", "Path"], ["dominated", "Dominated"]];

export function Inspector({ route }: { route: Route }) {
  const { db, obj } = route.params, tab = route.params.tab ?? "fields";
  const [from, setFrom] = useState(0);
  const asked = useAnswer("object", { db, target: obj, limit: "1" });
  const f = asked.answer?.facts;
  const close = () => change({ obj: undefined, tab: undefined });
  const params = { db, target: obj };
  const klass = f?.kind === "class" ? String(f.class ?? "") : String(f?.class ?? "");
  const length = Number(f?.length ?? 0);
  return <aside class="inspector" aria-label="Selected object">
    <button class="close" aria-label="Close" onClick={close}>×</button>
    <Wait asked={asked} what="the object" />
    {f && <>
      <h2><Name text={String(f.class ?? "")} /></h2>
      <p class="id"><code>{obj}</code> <button onClick={() => void navigator.clipboard.writeText(obj)}>copy</button></p>
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
      <p class="acts"><a href={linkTo("paths", { target: klass })}>all of this class</a></p>
      <nav class="tabs" role="tablist">{tabs.map(([name, title]) => <button role="tab" aria-selected={tab === name} class={tab === name ? "on" : ""}
        onClick={() => change({ tab: name }, true)}>{title}</button>)}</nav>
      {tab === "fields" && <>
        {length > 100 && <p class="tools"><button disabled={!from} onClick={() => setFrom(Math.max(0, from - 100))}>‹</button>
          {number(from)} to {number(Math.min(length, from + 100))} <button disabled={from + 100 >= length} onClick={() => setFrom(from + 100)}>›</button></p>}
        <QueryTable query="object" params={{ ...params, from: from ? String(from) : undefined }} what="fields" columns={["name", "label", "value", "type"]} /></>}
      {tab === "contents" && <QueryTable query="entries" params={params} what="entries" />}
      {tab === "referrers" && <QueryTable query="referrers" params={params} what="referrers" columns={["label", "name", "strength", "retained"]} />}
      {tab === "path" && <QueryTable query="path" params={params} what="path to a GC root" columns={["step", "label", "via_field", "retained", "root"]} />}
      {tab === "dominated" && <QueryTable query="dominators" params={params} what="dominated objects" columns={["label", "shallow", "retained", "percent"]} />}
    </>}
  </aside>;
}
