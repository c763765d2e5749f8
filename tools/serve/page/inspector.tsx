// The panel with the selected object.
import { useEffect, useRef, useState } from "preact/hooks";
import { sourceOf } from "./android";
import { Row } from "./api";
import { copyText } from "./export";
import { Notes } from "./notes";
import { numberOf, useInfo } from "./overview";
import { Marks, useAnswer, Wait } from "./asking";
import { actionsOf, ClassName, classPage, Name, Obj } from "./objects";
import { Choice, specs } from "./parts";
import { Together } from "./selection";
import { QueryTable } from "./query";
import { change, Route } from "./route";
import { Chain, CopyPath } from "./card";
import { bytes, number, percent, splitName, visible } from "./text";
import { Dominated, Holds, Referrers, useOpen } from "./tree";

const PAGE = 100,
  BYTES = 512;

function Pages({ from, step, length, onGo }: { from: number; step: number; length: number; onGo(from: number): void }) {
  if (length <= step) return null;
  return (
    <p class="tools">
      <button aria-label="Back" disabled={!from} onClick={() => onGo(Math.max(0, from - step))}>
        ‹
      </button>
      {number(from)} to {number(Math.min(length, from + step) - 1)} of {number(length)}{" "}
      <button aria-label="Next" disabled={from + step >= length} onClick={() => onGo(from + step)}>
        ›
      </button>
      <label>
        from{" "}
        <input
          size={7}
          value={String(from)}
          onChange={(e) => {
            const to = Number((e.target as HTMLInputElement).value);
            if (to >= 0 && to < length) onGo(Math.floor(to / step) * step);
          }}
        />
      </label>
    </p>
  );
}

// Loads part of an object's value, as bytes; a string is an error message.
function useValue(path: string): ArrayBuffer | string | null {
  const [data, setData] = useState<ArrayBuffer | string | null>(null);
  useEffect(() => {
    let live = true;
    fetch(path)
      .then(async (r) => {
        const found = r.ok ? await r.arrayBuffer() : String((await r.json()).error?.message);
        if (live) setData(found);
      })
      .catch(() => {
        if (live) setData("The server does not respond.");
      });
    return () => {
      live = false;
    };
  }, [path]);
  return data;
}

// Hex dump: offset, bytes, ASCII characters.
function hexOf(data: Uint8Array, from: number): string {
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 16) {
    const part = [...data.subarray(at, at + 16)];
    lines.push(
      `${(from + at).toString(16).padStart(6, "0")}  ${part
        .map((b) => b.toString(16).padStart(2, "0"))
        .join(" ")
        .padEnd(47)}  ${part.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : ".")).join("")}`,
    );
  }
  return lines.join("\n");
}

function Hex({ db, id, length }: { db?: string; id: string; length: number }) {
  const [from, setFrom] = useState(0);
  const data = useValue(`/api/value?db=${db ?? 0}&id=${id}&from=${from}&count=${BYTES}`);
  return (
    <>
      <Pages from={from} step={BYTES} length={length} onGo={setFrom} />
      {typeof data === "string" ? (
        <p class="error">{visible(data)}</p>
      ) : (
        <pre class="value hex">{data ? hexOf(new Uint8Array(data), from) : ""}</pre>
      )}
    </>
  );
}

const TEXT = 4096;

// A value as text. Byte arrays are decoded as UTF-8; the server sends char arrays as one number per line.
function Text({ db, id, klass, length }: { db?: string; id: string; klass: string; length: number }) {
  const [from, setFrom] = useState(0),
    isArray = klass.endsWith("[]");
  const data = useValue(`/api/value?db=${db ?? 0}&id=${id}${isArray ? `&from=${from}&count=${TEXT}` : ""}`);
  let text = "";
  if (data instanceof ArrayBuffer) {
    text = new TextDecoder().decode(data);
    if (klass === "char[]")
      text = text
        .split("\n")
        .filter(Boolean)
        .map((n) => String.fromCharCode(Number(n)))
        .join("");
  }
  const whole = isArray ? length : text.length,
    shown = isArray ? text : text.slice(from, from + TEXT);
  return (
    <>
      <Pages from={from} step={TEXT} length={whole} onGo={setFrom} />
      {typeof data === "string" ? <p class="error">{visible(data)}</p> : <pre class="value long">{visible(shown)}</pre>}
    </>
  );
}

function Bitmap({ db, id }: { db?: string; id: string }) {
  const reply = useAnswer(specs.has("bitmaps") ? "bitmaps" : "", { db, limit: "100000" });
  const row = reply.answer?.rows.find((r) => r.id === id),
    source = row ? sourceOf(row, db) : null;
  if (!source) return reply.answer ? <p class="dim">The dump does not contain the pixels of this bitmap.</p> : null;
  return (
    <p>
      <a href={source}>
        <img class="bitmap" src={source} alt={`bitmap ${id}`} />
      </a>
    </p>
  );
}

// ---- history and pinned objects ----

interface Place {
  id: string;
  label: string;
}
const trail: string[] = []; // visited objects; `current` is the index of the current one
let current = -1;

function visit(id: string): void {
  if (trail[current] === id) return;
  if (trail[current - 1] === id) current--;
  else if (trail[current + 1] === id) current++;
  else {
    trail.splice(current + 1, trail.length, id);
    current = trail.length - 1;
  }
}

function pinned(db?: string): Place[] {
  try {
    return (JSON.parse(sessionStorage.getItem(`pins ${db ?? ""}`) ?? "[]") as Place[]).filter(
      (p) => typeof p.id === "string" && typeof p.label === "string",
    );
  } catch {
    return [];
  }
}

function Pins({ db, id, label }: { db?: string; id: string; label: string }) {
  const [pins, setPins] = useState(() => pinned(db)),
    isPinned = pins.some((p) => p.id === id);
  const toggle = () => {
    const next = isPinned ? pins.filter((p) => p.id !== id) : [...pins, { id, label }].slice(-12);
    setPins(next);
    try {
      sessionStorage.setItem(`pins ${db ?? ""}`, JSON.stringify(next));
    } catch {
      /* storage is blocked: the pins last until the panel closes */
    }
  };
  const go = (step: number) => {
    current += step;
    change({ obj: trail[current], tab: undefined });
  };
  return (
    <>
      <p class="tools walk">
        <button
          aria-label="Back to the previous object"
          title="Back to the previous object"
          disabled={current < 1}
          onClick={() => go(-1)}
        >
          ‹
        </button>
        <button aria-label="Forward" title="Forward" disabled={current + 1 >= trail.length} onClick={() => go(1)}>
          ›
        </button>
        <button aria-pressed={isPinned} onClick={toggle}>
          {isPinned ? "Unpin" : "Pin"}
        </button>
      </p>
      {pins.length > 0 && (
        <p class="pins" aria-label="Pinned objects">
          {pins.map((p) => (
            <span class={p.id === id ? "chip on" : "chip"}>
              <Obj id={p.id} text={p.label} />
            </span>
          ))}
        </p>
      )}
      {pins.length > 1 && (
        <p class="selection">
          <Together db={db} ids={pins.map((p) => p.id)} what="pinned" />
        </p>
      )}
    </>
  );
}

// ---- paths ----

function Paths({ db, id, all, internals }: { db?: string; id: string; all?: string; internals: boolean }) {
  const reply = useAnswer("path", { db, target: id, all, internals: internals ? "1" : undefined, limit: "10000" });
  if (!reply.answer) return <Wait reply={reply} what="path to a GC root" />;
  const groups = new Map<number, Row[]>();
  for (const r of reply.answer.rows)
    groups.set(Number(r.path), [
      { ...r, text: r.root ? `GC root: ${r.root}` : null },
      ...(groups.get(Number(r.path)) ?? []),
    ]);
  if (groups.size === 0)
    return (
      <p class="empty">
        No GC root reaches this object except through weak, soft, phantom or final references. Merged paths shows those
        paths.
      </p>
    );
  return (
    <>
      <Marks facts={reply.answer.facts} />
      {[...groups].map(([n, rows]) => (
        <>
          {groups.size > 1 && <h3>Path {number(n)}</h3>}
          <CopyPath rows={rows} />
          <Chain rows={rows} />
        </>
      ))}
    </>
  );
}

// Whether fields are sorted by retained size instead of in order of declaration.
const isLargest = (): boolean => {
  try {
    return localStorage.getItem("fields") !== "declared";
  } catch {
    return true;
  }
};

const PATHS = 10,
  FIELDS = 10000;
const FACTS: [string, string][] = [
  ["heap", "Heap"],
  ["loader", "Class loader"],
  ["allocated_at", "Allocated at"],
  ["flat_in", "Flat value in"],
];

// Resolves a link to a field, `0x1234.name` or `0x1234.Class.name`: the object it refers to replaces it in the URL.
export function FieldTarget({ route }: { route: Route }) {
  const { db, obj } = route.params,
    dot = obj.indexOf("."),
    id = obj.slice(0, dot),
    field = obj.slice(dot + 1);
  const reply = useAnswer("object", { db, target: id, limit: String(FIELDS) });
  const row = reply.answer?.rows.find(
    (r) => r.name === field || `${splitName(String(r.class))[1]}.${r.name}` === field,
  );
  useEffect(() => {
    if (row?.ref) change({ obj: String(row.ref) }, true);
  }, [row]);
  return (
    <aside class="inspector" aria-label="Selected object">
      <button class="close" aria-label="Close" title="Close (Escape)" onClick={() => change({ obj: undefined })}>
        ×
      </button>
      <Wait reply={reply} what="the object" />
      {reply.answer && !row?.ref && (
        <p class="empty">
          The field {visible(field)} of <Obj id={id} /> refers to no object.
        </p>
      )}
    </aside>
  );
}

export function Inspector({ route }: { route: Route }) {
  const { db, obj } = route.params;
  const [from, setFrom] = useState(0),
    [paths, setPaths] = useState("1"),
    [internals, setInternals] = useState(false),
    box = useRef<HTMLElement>(null),
    [largest, setLargest] = useState(isLargest);
  const order = (on: boolean) => {
    setLargest(on);
    try {
      localStorage.setItem("fields", on ? "largest" : "declared");
    } catch {
      /* storage is blocked: the setting is not remembered */
    }
  };
  const reply = useAnswer("object", { db, target: obj, limit: "1" }),
    { info } = useInfo(db);
  const open = useOpen(`open ${db ?? ""} ${obj}`);
  visit(obj);
  const f = reply.answer?.facts,
    heap = info ? numberOf(info("objects", "reachable bytes")) : null;
  const close = () => change({ obj: undefined, tab: undefined });
  const params = { db, target: obj };
  const klass = String(f?.class ?? ""),
    length = Number(f?.length ?? 0),
    isArray = f?.kind === "object array" || f?.kind === "primitive array";
  const holds = f !== undefined && !isArray && /^size=/.test(String(f.value ?? ""));
  const hasValue =
    f?.kind === "primitive array" || (f?.kind === "instance" && f.value !== null && f.value !== undefined && !holds);
  const isText = klass === "byte[]" || klass === "char[]" || (klass === "java.lang.String" && hasValue);
  const tabs = [
    ["fields", isArray ? "Elements" : "Fields"],
    ...(holds ? [["contents", "Contents"]] : []),
    ...(isText ? [["text", "Text"]] : []),
    ...(klass === "byte[]" ? [["hex", "Hex"]] : []),
    ["referrers", "Referrers"],
    ["path", "Path"],
    ["paths", "Merged paths"],
    ["dominated", "Dominated"],
  ];
  const tab = tabs.some(([name]) => name === route.params.tab) ? route.params.tab : holds ? "contents" : "fields";
  const target = f?.kind === "class" ? String(f.value ?? klass) : klass,
    retained = Number(f?.retained ?? 0);
  const share = heap && f?.reachable !== false ? (100 * retained) / heap : null;
  const onTab = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const names = tabs.map(([name]) => name),
      to = names[(names.indexOf(tab) + step + names.length) % names.length];
    change({ tab: to }, true);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus());
    e.preventDefault();
  };
  return (
    <aside class="inspector" aria-label="Selected object" ref={box}>
      <button class="close" aria-label="Close" title="Close (Escape)" onClick={close}>
        ×
      </button>
      <Pins
        db={db}
        id={obj}
        label={f ? `${f.class}${f.value && String(f.value).length < 60 ? ` ${f.value}` : ""}` : obj}
      />
      {!f && <h2>{visible(obj)}</h2>}
      <Wait reply={reply} what="the object" />
      {f && (
        <>
          <h2>
            <ClassName name={klass} wrap />
          </h2>
          <p class="id">
            <code>{obj}</code> <button onClick={() => void copyText(obj)}>copy</button>
            {hasValue && (
              <>
                {" "}
                <a class="download" href={`/api/value?db=${db ?? 0}&id=${obj}`} download="">
                  download the value
                </a>
              </>
            )}
          </p>
          {f.value !== undefined && f.value !== null && <pre class="value">{visible(String(f.value))}</pre>}
          {klass === "android.graphics.Bitmap" && <Bitmap db={db} id={obj} />}
          <Marks facts={f} />
          <Notes db={db} on={[obj, f.kind === "class" ? target : null]} />
          <dl class="facts">
            <div>
              <dt>Retained size</dt>
              <dd title={f.reachable === false ? undefined : `${number(retained)} bytes`}>
                {f.reachable === false ? (
                  "unreachable: no GC root leads to it"
                ) : typeof f.retained !== "number" ? (
                  "not known yet"
                ) : (
                  <b>{bytes(retained)}</b>
                )}
                {share !== null && share >= 0.05 ? ` · ${percent(share)} of the heap` : ""}
              </dd>
            </div>
            <div>
              <dt>Shallow size</dt>
              <dd title={`${number(Number(f.shallow ?? 0))} bytes`}>{bytes(Number(f.shallow ?? 0))}</dd>
            </div>
            {typeof f.native === "number" && f.native > 0 && (
              <div>
                <dt>Native memory</dt>
                <dd>{bytes(f.native)}</dd>
              </div>
            )}
            <div>
              <dt>Kind</dt>
              <dd>
                {String(f.kind)}
                {length > 0 ? `, ${number(length)} elements` : ""}
              </dd>
            </div>
            {f.roots ? (
              <div>
                <dt>GC root</dt>
                <dd>{String(f.roots)}</dd>
              </div>
            ) : null}
            {FACTS.map(([name, title]) =>
              f[name] ? (
                <div>
                  <dt>{title}</dt>
                  <dd>
                    <Name text={String(f[name])} wrap />
                  </dd>
                </div>
              ) : null,
            )}
          </dl>
          <p class="acts">
            <a href={classPage(target)}>Other objects of this class</a> ·{" "}
            <a href={classPage(target, "paths")}>paths to all of them</a>
            {actionsOf(obj)
              .slice(3)
              .map(([name, to]) => (
                <>
                  {" "}
                  · <a href={String(to)}>{name.toLowerCase().replace("sql", "SQL")}</a>
                </>
              ))}
          </p>
          <nav class="tabs" role="tablist" onKeyDown={onTab}>
            {tabs.map(([name, title]) => (
              <button
                role="tab"
                aria-selected={tab === name}
                tabIndex={tab === name ? 0 : -1}
                class={tab === name ? "on" : ""}
                onClick={() => change({ tab: name }, true)}
              >
                {title}
              </button>
            ))}
          </nav>
          {tab === "fields" && (
            <>
              {!isArray && (
                <p class="tools">
                  <label>
                    <input
                      type="checkbox"
                      checked={largest}
                      onChange={(e) => order((e.target as HTMLInputElement).checked)}
                    />{" "}
                    largest first
                  </label>
                </p>
              )}
              <Pages from={from} step={PAGE} length={length} onGo={setFrom} />
              <Holds
                key={`f${from}`}
                db={db}
                largest={largest}
                id={obj}
                label={f.value ? `${klass} ${f.value}` : length || isArray ? `[${length}]` : klass}
                open={open}
                plain
                from={isArray && length > PAGE ? from : undefined}
                path="f"
              />
            </>
          )}
          {tab === "contents" && (
            <Holds db={db} id={obj} label={`${klass} ${f.value}`} open={open} path="c" largest={largest} />
          )}
          {tab === "text" && <Text db={db} id={obj} klass={klass} length={length} />}
          {tab === "hex" && <Hex db={db} id={obj} length={length} />}
          {tab === "referrers" && <Referrers db={db} id={obj} open={open} />}
          {tab === "path" && (
            <>
              <div class="tools">
                <Choice
                  label="Show"
                  value={paths}
                  choices={[
                    ["1", "the shortest path"],
                    [String(PATHS), `up to ${PATHS} paths, each from a different root`],
                  ]}
                  onChange={setPaths}
                />
                <label title="entries, tables and inner maps of known collections">
                  <input
                    type="checkbox"
                    checked={internals}
                    onChange={(e) => setInternals((e.target as HTMLInputElement).checked)}
                  />{" "}
                  internals of collections
                </label>
              </div>
              <Paths db={db} id={obj} all={paths === "1" ? undefined : paths} internals={internals} />
            </>
          )}
          {tab === "paths" && (
            <QueryTable
              query="merged-paths"
              params={{ ...params, exclude: "none" }}
              what="merged paths"
              columns={["level", "name", "below_objects", "percent"]}
              titles={{ below_objects: "objects" }}
            />
          )}
          {tab === "dominated" && <Dominated db={db} id={obj} open={open} />}
        </>
      )}
    </aside>
  );
}
