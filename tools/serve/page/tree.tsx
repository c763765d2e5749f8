// Expandable trees: keyboard handling, and the trees of fields, referrers and dominated objects in the inspector.
import { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Cell, Row } from "./api";
import { usePrevious, Wait } from "./asking";
import { dateOf, Obj, select } from "./objects";
import { bytes, number, visible } from "./text";

// ---- keys ----

export interface Fold {
  isOpen: boolean;
  canOpen: boolean;
  toggle(): void;
  enter(): void;
}

// Keys of an ARIA tree. The rows are elements with class "row" and role "treeitem" inside one with role "tree".
export function treeKey(e: KeyboardEvent, { isOpen, canOpen, toggle, enter }: Fold): void {
  const here = e.currentTarget as HTMLElement;
  if (e.target !== here) return;
  const all = [...here.closest("[role=tree]")!.querySelectorAll<HTMLElement>(".row[role=treeitem]")],
    at = all.indexOf(here);
  const parent = here.closest("ul")?.closest("li")?.querySelector<HTMLElement>(".row");
  if (e.key === "ArrowRight" && canOpen && !isOpen) toggle();
  else if (e.key === "ArrowRight" && isOpen) all[at + 1]?.focus();
  else if (e.key === "ArrowLeft" && isOpen) toggle();
  else if (e.key === "ArrowLeft" && parent) parent.focus();
  else if (e.key === "Enter") enter();
  else if (e.key === "ArrowDown" || e.key === "ArrowUp") all[at + (e.key === "ArrowDown" ? 1 : -1)]?.focus();
  else if (e.key === "Home" || e.key === "End") all[e.key === "Home" ? 0 : all.length - 1]?.focus();
  else if (e.key === ".")
    here.querySelector("a.obj")?.dispatchEvent(new KeyboardEvent("keydown", { key: ".", bubbles: true }));
  else return;
  e.preventDefault();
  e.stopPropagation();
}

// An expandable row. `inside` is rendered only while the row is open.
export function Branch({
  level,
  fold,
  children,
  inside,
}: {
  level: number;
  fold: Fold;
  children: ComponentChildren;
  inside?(): ComponentChildren;
}) {
  const { isOpen, canOpen, toggle } = fold;
  return (
    <li role="none">
      <div
        class="row"
        role="treeitem"
        tabIndex={0}
        aria-level={level}
        aria-expanded={canOpen ? isOpen : undefined}
        onKeyDown={(e) => treeKey(e, fold)}
      >
        {canOpen ? (
          <button class="twist" tabIndex={-1} aria-label={isOpen ? "close" : "open"} onClick={toggle}>
            {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span class="twist" />
        )}
        {children}
      </div>
      {isOpen && inside ? inside() : null}
    </li>
  );
}

// ---- open rows ----

// Remembers open rows in the browser tab's session: back, forward and reload show the same rows.
function storedSet(key: string): Set<string> {
  try {
    return new Set((JSON.parse(sessionStorage.getItem(key) ?? "[]") as string[]).map(String));
  } catch {
    return new Set();
  }
}

export interface Open {
  has(path: string): boolean;
  toggle(path: string): void;
}

export function useOpen(key: string): Open {
  const [set, setSet] = useState(() => storedSet(key));
  return {
    has: (path) => set.has(path),
    toggle: (path) => {
      const next = new Set(set);
      if (!next.delete(path)) next.add(path);
      setSet(next);
      try {
        sessionStorage.setItem(key, JSON.stringify([...next].slice(-200)));
      } catch {
        /* storage is blocked: open rows are not remembered */
      }
    },
  };
}

// ---- what an object holds ----

const PAGE = 100,
  DEEP = 40;
const isCollection = (label: Cell): boolean => /(^| )size=\d+$/.test(String(label ?? ""));
const countOf = (label: Cell): number => Number(/(?: size=|\[)(\d+)\]?$/.exec(String(label ?? ""))?.[1] ?? 0);
const canHold = (id: Cell, label: Cell): boolean =>
  Boolean(id) &&
  !/^java\.lang\.(String|Integer|Long|Short|Byte|Character|Double|Float|Boolean) ./.test(String(label)) &&
  !/(\[0\]| size=0)$/.test(String(label));

interface Content {
  name: string;
  type?: string;
  id: Cell;
  label: Cell;
  retained: Cell;
  group?: string;
  isStatic?: boolean;
  key?: { id: Cell; text: Cell };
}

// Converts a row of `object` or `entries`.
function contentOf(row: Row): Content {
  if (row.no !== undefined) {
    const key = row.key ?? row.key_label,
      hasKey = key !== null && key !== undefined;
    return {
      name: `[${number(Number(row.no))}]`,
      key: hasKey ? { id: row.key_id, text: key } : undefined,
      id: row.value_id,
      label: row.value ?? row.value_label,
      retained: row.retained,
    };
  }
  return {
    name: String(row.name),
    type: String(row.type ?? ""),
    id: row.ref,
    label: row.label ?? row.value,
    retained: row.retained,
    group: row.class === null ? undefined : String(row.class ?? ""),
  };
}

function Value({ held: h }: { held: Content }) {
  const date = dateOf(h.name, h.label);
  return (
    <span class="grow held">
      {h.key ? (
        <>
          {h.key.id ? <Obj id={h.key.id} text={h.key.text} /> : <span>{visible(String(h.key.text))}</span>}
          <span class="by">→</span>
        </>
      ) : (
        <span class="by" title={h.group ? `${h.name} of ${h.group}` : undefined}>
          {visible(h.name)}
        </span>
      )}
      {h.id ? (
        <Obj id={h.id} text={h.label} />
      ) : date ? (
        <span class="date" title={String(h.label)}>
          {date}
        </span>
      ) : (
        <span class={h.label === "null" || h.label === null ? "dim" : ""}>{visible(String(h.label ?? "null"))}</span>
      )}
      {h.type && !h.id && !date && h.type !== "object" ? <small>{h.type}</small> : null}
    </span>
  );
}

// Fields, elements or entries of an object. Each expands to the contents of the object it refers to.
export function Holds({
  db,
  id,
  label,
  level = 1,
  path = "",
  open,
  plain,
  from,
  largest,
}: {
  db?: string;
  id: string;
  label: Cell;
  level?: number;
  path?: string;
  open: Open;
  plain?: boolean;
  from?: number;
  largest?: boolean;
}) {
  const [limit, setLimit] = useState(PAGE),
    entries = isCollection(label) && !plain;
  const reply = usePrevious(
    entries ? "entries" : "object",
    { db, target: id, limit: String(limit), from: !entries && from ? String(from) : undefined },
    id + String(entries) + String(from ?? ""),
  );
  const a = reply.answer;
  if (reply.error && entries)
    // If the entries of a damaged collection cannot be read, show its fields instead.
    return <Holds db={db} id={id} label={label} level={level} path={path} open={open} plain largest={largest} />;
  if (!a) return <Wait reply={reply} what="its contents" />;
  const declared = a.rows.map(contentOf),
    isSorted = largest === true && !entries && !/\[\d+\]$/.test(String(label));
  // A value that retains more than the object itself must have other referrers, so sort it last.
  const whole = Number(a.facts.retained ?? Infinity),
    weight = (h: Content): number => (typeof h.retained !== "number" ? 0 : h.retained < whole ? h.retained : 0.5);
  const rows = isSorted ? [...declared].sort((x, y) => weight(y) - weight(x)) : declared,
    groups = !isSorted && new Set(rows.map((r) => r.group)).size > 1;
  const all = Math.max(a.total_rows ?? 0, level > 1 ? countOf(label) : 0);
  const line = (h: Content, i: number) => {
    const key = `${path}/${entries ? h.name : h.name}`,
      canOpen = canHold(h.id, h.label) && level < DEEP,
      isOpen = canOpen && open.has(key);
    return (
      <>
        {groups && h.group !== rows[i - 1]?.group && (
          <li role="none" class="declared">
            <small>{visible(h.group ?? "")}</small>
          </li>
        )}
        <Branch
          level={level}
          fold={{
            isOpen,
            canOpen,
            toggle: () => open.toggle(key),
            enter: () => {
              if (h.id) select(String(h.id));
            },
          }}
          inside={() => (
            <Holds
              db={db}
              id={String(h.id)}
              label={h.label}
              level={level + 1}
              path={key}
              open={open}
              largest={largest}
            />
          )}
        >
          <Value held={h} />
          <span class="size">{typeof h.retained === "number" ? bytes(h.retained) : ""}</span>
        </Branch>
      </>
    );
  };
  return (
    <>
      {rows.length === 0 && (
        <p class="empty">
          {/\[0\]$/.test(String(label))
            ? "The array is empty."
            : entries
              ? "The collection is empty."
              : "This object has no fields."}
        </p>
      )}
      <ul
        class="tree holds"
        role={level > 1 ? "group" : "tree"}
        aria-label={level > 1 ? undefined : entries ? "Entries" : "Fields"}
      >
        {rows.map(line)}
      </ul>
      {from === undefined && rows.length < all && rows.length >= limit && (
        <div class="rest">
          <span class="count">
            {number(rows.length)} of {number(all)}
          </span>
          {reply.late ? (
            <Wait reply={{ ...reply, answer: undefined }} what="more" />
          ) : (
            <button class="more" onClick={() => setLimit(limit * 4)}>
              Show {number(Math.min(all - rows.length, limit * 3))} more
            </button>
          )}
        </div>
      )}
    </>
  );
}

// ---- who refers to it ----

const REFERRERS = 20000,
  SHOWN = 50;

// Groups referrers by class and field, so that a million nodes of one map take one row.
export function Referrers({ db, id, open }: { db?: string; id: string; open: Open }) {
  const reply = usePrevious("referrers", { db, target: id, limit: String(REFERRERS) }, id),
    a = reply.answer;
  if (!a) return <Wait reply={reply} what="referrers" />;
  const groups = new Map<string, Row[]>();
  for (const r of a.rows) {
    const key = `${r.class} ${String(r.name).replace(/\[\d+\]/, "[…]")} ${r.strength}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key)!.push(r);
  }
  const sorted = [...groups].sort((x, y) => y[1].length - x[1].length);
  const by = (r: Row, name = r.name) => (
    <span class="by">
      .{visible(String(name))}
      {r.strength && r.strength !== "strong" ? ` (${r.strength})` : ""}
    </span>
  );
  const one = (r: Row, level: number, key: string, name: Cell = r.name) => {
    const isOpen = open.has(key);
    return (
      <Branch
        level={level}
        fold={{ isOpen, canOpen: level < DEEP, toggle: () => open.toggle(key), enter: () => select(String(r.id)) }}
        inside={() => <ReferrersBelow db={db} id={String(r.id)} level={level + 1} path={key} open={open} />}
      >
        <span class="grow held">
          <Obj id={r.id} text={r.label} />
          {by(r, name)}
        </span>
        <span class="size">{typeof r.retained === "number" ? bytes(r.retained) : ""}</span>
      </Branch>
    );
  };
  const count = a.total_rows ?? a.rows.length;
  return (
    <>
      <p class="dim">
        {count === 0
          ? "Nothing refers to it."
          : `${number(count)} ${count === 1 ? "reference" : "references"}, by class and ` +
            `field${count > a.rows.length ? `. Only the first ${number(a.rows.length)} are shown` : ""}. ` +
            "Open a referrer to see what refers to it."}
      </p>
      {sorted.length > 0 && (
        <ul class="tree holds" role="tree" aria-label="Referrers">
          {sorted.map(([key, rows]) => {
            const r = rows[0],
              path = `r ${key}`;
            if (rows.length === 1) return one(r, 1, `${path}/${r.id}`);
            const isOpen = open.has(path);
            return (
              <Branch
                level={1}
                fold={{ isOpen, canOpen: true, toggle: () => open.toggle(path), enter: () => open.toggle(path) }}
                inside={() => (
                  <>
                    <ul class="tree holds" role="group">
                      {rows.slice(0, SHOWN).map((x) => one(x, 2, `${path}/${x.id} ${x.name}`))}
                    </ul>
                    {rows.length > SHOWN && <p class="dim rest">{number(rows.length - SHOWN)} more</p>}
                  </>
                )}
              >
                <span class="grow held">
                  <b>{number(rows.length)}</b> <Obj id={null} text={r.class} />
                  {by(r, String(r.name).replace(/\[\d+\]/, "[…]"))}
                </span>
              </Branch>
            );
          })}
        </ul>
      )}
    </>
  );
}

function ReferrersBelow({
  db,
  id,
  level,
  path,
  open,
}: {
  db?: string;
  id: string;
  level: number;
  path: string;
  open: Open;
}) {
  const reply = usePrevious("referrers", { db, target: id, limit: String(SHOWN) }, id),
    a = reply.answer;
  if (!a) return <Wait reply={reply} what="referrers" />;
  return (
    <ul class="tree holds" role="group">
      {a.rows.map((r) => {
        const key = `${path}/${r.id} ${r.name}`;
        return (
          <Branch
            level={level}
            fold={{
              isOpen: open.has(key),
              canOpen: level < DEEP,
              toggle: () => open.toggle(key),
              enter: () => select(String(r.id)),
            }}
            inside={() => <ReferrersBelow db={db} id={String(r.id)} level={level + 1} path={key} open={open} />}
          >
            <span class="grow held">
              <Obj id={r.id} text={r.label} />
              <span class="by">.{visible(String(r.name))}</span>
            </span>
            <span class="size">{typeof r.retained === "number" ? bytes(r.retained) : ""}</span>
          </Branch>
        );
      })}
      {a.rows.length === 0 && (
        <li role="none">
          <small>{a.total_rows === 0 ? "a GC root, or nothing" : ""}</small>
        </li>
      )}
    </ul>
  );
}

// ---- what would be freed without it ----

export function Dominated({
  db,
  id,
  level = 1,
  path = "d",
  open,
}: {
  db?: string;
  id: string;
  level?: number;
  path?: string;
  open: Open;
}) {
  const [limit, setLimit] = useState(SHOWN);
  const reply = usePrevious("dominators", { db, target: id, limit: String(limit) }, id),
    a = reply.answer;
  if (!a) return <Wait reply={reply} what="dominated objects" />;
  if (a.rows.length === 0)
    return <p class="empty">This object dominates no other object. Removing it would free nothing else.</p>;
  return (
    <>
      <ul
        class="tree holds"
        role={level > 1 ? "group" : "tree"}
        aria-label={level > 1 ? undefined : "Dominated objects"}
      >
        {a.rows.map((r) => {
          const key = `${path}/${r.id}`,
            canOpen = Number(r.children) > 0 && level < DEEP,
            isOpen = canOpen && open.has(key);
          return (
            <Branch
              level={level}
              fold={{ isOpen, canOpen, toggle: () => open.toggle(key), enter: () => select(String(r.id)) }}
              inside={() => <Dominated db={db} id={String(r.id)} level={level + 1} path={key} open={open} />}
            >
              <span class="grow held">
                <Obj id={r.id} text={r.label} />
              </span>
              <span class="size">{bytes(Number(r.retained ?? 0))}</span>
            </Branch>
          );
        })}
      </ul>
      {a.total_rows !== null && a.total_rows > a.row_count && (
        <div class="rest">
          <span class="count">
            {number(a.row_count)} of {number(a.total_rows)}
          </span>
          <button class="more" onClick={() => setLimit(limit * 4)}>
            Show {number(Math.min(a.total_rows - a.row_count, limit * 3))} more
          </button>
        </div>
      )}
    </>
  );
}
