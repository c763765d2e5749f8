// Links to objects and classes, their menus, and formatting of values.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, Cell, Column, hasSql, report, Row } from "./api";
import { copyText } from "./export";
import { change, href, linkTo, readRoute } from "./route";
import { forPage, number, percent, splitName, visible } from "./text";
const SHORT = 4; // characters; shorter package names are never shortened

// A package, which is always shown in full: "util" alone is ambiguous.
const PACKAGE = /^[a-z_]\w*(\.[a-z_]\w*)+$/;
// A field after its class: "value" alone is ambiguous, too.
const FIELD = /^((?:[a-z_]\w*\.)*)([A-Z][\w$]*\..*)$/;

// Text whose lines may also break where `at` matches. Inserts nothing that would be copied with the text.
export function Breaking({ text, at }: { text: string; at: RegExp | string }) {
  return (
    <>
      {text.split(at).map((part, i) => (
        <>
          {i > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  );
}

// `wrap`: lines may break inside the class name, not only after the package.
export function Name({ text, wrap }: { text: string; wrap?: boolean }) {
  const shown = visible(text);
  const [head, tail] = PACKAGE.test(shown) ? ["", shown] : (FIELD.exec(shown)?.slice(1) ?? splitName(shown));
  const klass = head.startsWith("class ") ? "class " : "";
  return (
    <span class="name">
      {klass && <span class="dim">{klass}</span>}
      <span class={`dim package${head.length - klass.length > SHORT ? " far" : ""}`}>
        <Breaking text={head.slice(klass.length)} at={/(?<=\.)/} />
        {head.length > klass.length && <wbr />}
      </span>
      <span class="tail">{wrap ? <Breaking text={tail} at={/(?<=[a-z])(?=[A-Z$.])/} /> : tail}</span>
    </span>
  );
}

// Copies names in one piece. The browser itself would insert line breaks between the parts of a name that is truncated
// to its row.
export function copyNames(e: ClipboardEvent): void {
  const selection = getSelection();
  let text = String(selection);
  for (const name of document.querySelectorAll(".name")) {
    if (!selection?.containsNode(name, true)) continue;
    const parts = [...name.children].map((part) => part.textContent).filter(Boolean);
    text = text.replace(parts.join("\n"), () => parts.join(""));
  }
  if (text === String(selection)) return;
  e.clipboardData?.setData("text/plain", text);
  e.preventDefault();
}

// A date, if the field's name suggests a time and its value fits milliseconds since 1970; otherwise null.
export function dateOf(name: string, value: Cell): string | null {
  const ms = Number(value);
  if (!/time|date|stamp|millis|expir|created|access|last|until/i.test(name) || !(ms > 9e11 && ms < 4e12)) return null;
  return new Date(ms)
    .toISOString()
    .replace("T", " ")
    .replace(/(\.000)?Z/, " UTC");
}

// Link to the view of a class; `show` is its tab.
export function classPage(name: string, show?: string): string {
  return linkTo("class", { target: name.replace(/^class /, ""), show, obj: undefined });
}

export function ClassName({ name, wrap }: { name: string; wrap?: boolean }) {
  return report ? (
    <Name text={name} wrap={wrap} />
  ) : (
    <a class="class" data-class={name} href={classPage(name)}>
      <Name text={name} wrap={wrap} />
    </a>
  );
}

export function select(id: string): void {
  change({ obj: id, tab: undefined });
}

// Opens the view of an object's class.
export function goToClass(db: string | undefined, id: string): void {
  void ask("object", { db, target: id, limit: "1" })
    .answer.then(({ facts }) => {
      const target = String(facts.kind === "class" ? (facts.value ?? facts.class) : facts.class);
      location.hash = classPage(target);
    })
    .catch(() => undefined);
}

// A menu item: a link or an action.
export type Item = [title: string, to: string | (() => void)];

// Subject of a menu: one object, or a named group with its own items. Without a name the menu has no "Copy".
type Subject = { id: string } | { name: string; items: Item[] };
type Placed = Subject & { x: number; y: number };

// Opens a menu for something that is not a link, for example a cell of the map.
export function menuAt(of: Subject, x: number, y: number): void {
  dispatchEvent(new CustomEvent("objectmenu", { detail: { ...of, x, y } }));
}

// The "⋯" button, which opens a menu.
export function More({ items, label }: { items: Item[]; label: string }) {
  return (
    <button
      class="more-button"
      aria-haspopup="menu"
      aria-label={label}
      title={label}
      onClick={(e) => {
        const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
        e.stopPropagation();
        menuAt({ name: "", items }, box.right - MENU, box.bottom + 4);
      }}
    >
      ⋯
    </button>
  );
}

const MENU = 240; // width of a menu in pixels

// Menu items of a class.
export function classActions(name: string): Item[] {
  const target = name.replace(/^class /, "");
  return [
    ["All objects of the class", classPage(target)],
    ["Who holds them", classPage(target, "holders")],
    ["Merged paths", linkTo("paths", { target, obj: undefined })],
    ["Immediate dominators", linkTo("all", { q: "immediate-dominators", target, obj: undefined })],
    ["By field value", linkTo("all", { q: "group-by-value", target, obj: undefined })],
  ];
}

// Menu items of an object, for its menu and the inspector.
export function actionsOf(id: string): Item[] {
  const here = readRoute(),
    at = (tab: string) => href(here.view, { ...here.params, obj: id, tab });
  const list: Item[] = [
    ["Path to a GC root", at("path")],
    ["Who refers to it", at("referrers")],
    ["What it retains", at("dominated")],
    ["Treemap of what it retains", linkTo("map", { by: "object", root: id, obj: undefined })],
  ];
  if (hasSql())
    list.push(["Use in SQL", linkTo("sql", { sql: `SELECT * FROM objects WHERE id = ${id}`, obj: undefined })]);
  return list;
}

export function Menu() {
  const [at, set] = useState<Placed | null>(null);
  const list = useRef<HTMLUListElement>(null),
    before = useRef<Element | null>(null); // element that had the focus before the menu opened
  useEffect(() => {
    const place = (of: Subject, x: number, y: number) => {
      before.current = document.activeElement;
      set({
        ...of,
        x: Math.max(4, Math.min(x, innerWidth - MENU - 8)),
        y: Math.max(4, Math.min(y, innerHeight - 28 * (("items" in of ? of.items.length : 5) + 2))),
      });
    };
    const show = (e: Event, x: number, y: number) => {
      const link = (e.target as HTMLElement).closest?.<HTMLElement>("a.obj, a.class"),
        name = link?.dataset.class;
      if (!link || (!link.title && !name)) return;
      e.preventDefault();
      place(name ? { name, items: classActions(name) } : { id: link.title }, x, y);
    };
    const onMenu = (e: MouseEvent) => show(e, e.clientX, e.clientY);
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== ".") return;
      const box = (e.target as HTMLElement).getBoundingClientRect();
      show(e, box.left, box.bottom);
    };
    const onAsked = (e: Event) => {
      const { x, y, ...of } = (e as CustomEvent<Placed>).detail;
      place(of as Subject, x, y);
    };
    addEventListener("contextmenu", onMenu);
    addEventListener("keydown", onKey);
    addEventListener("objectmenu", onAsked);
    return () => {
      removeEventListener("contextmenu", onMenu);
      removeEventListener("keydown", onKey);
      removeEventListener("objectmenu", onAsked);
    };
  }, []);
  useLayoutEffect(() => {
    const hide = () => set(null);
    list.current?.querySelector<HTMLElement>("a, button")?.focus();
    const onEscape = (e: KeyboardEvent) => {
      if (e.key === "Escape") {
        hide();
        (before.current as HTMLElement | null)?.focus();
        e.stopImmediatePropagation();
      }
    };
    if (at) {
      addEventListener("click", hide);
      addEventListener("hashchange", hide);
      addEventListener("keydown", onEscape, true);
    }
    return () => {
      removeEventListener("keydown", onEscape, true);
      removeEventListener("click", hide);
      removeEventListener("hashchange", hide);
    };
  }, [at]);
  if (!at) return null;
  const onKey = (e: KeyboardEvent) => {
    const items = [...list.current!.querySelectorAll<HTMLElement>("a, button")],
      now = items.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape") set(null);
    else if (e.key === "ArrowDown" || e.key === "ArrowUp")
      items[(now + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length].focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const id = "id" in at ? at.id : null,
    items = "id" in at ? actionsOf(at.id) : at.items,
    name = "id" in at ? at.id : at.name;
  return (
    <ul class="menu" role="menu" ref={list} style={{ left: `${at.x}px`, top: `${at.y}px` }} onKeyDown={onKey}>
      {items.map(([title, to]) => (
        <li role="none">
          {typeof to === "string" ? (
            <a role="menuitem" href={to}>
              {title}
            </a>
          ) : (
            <button role="menuitem" onClick={to}>
              {title}
            </button>
          )}
        </li>
      ))}
      {id && (
        <li role="none">
          <button role="menuitem" onClick={() => goToClass(readRoute().params.db, id)}>
            Others of its class
          </button>
        </li>
      )}
      {name && (
        <li role="none">
          <button role="menuitem" onClick={() => void copyText(name)}>
            Copy {visible(name)}
          </button>
        </li>
      )}
    </ul>
  );
}

export function Obj({ id, text, wrap }: { id: Cell; text?: Cell; wrap?: boolean }) {
  const label = text === null || text === undefined || text === "" ? String(id) : String(text);
  if (!id || id === "0x0") return <Name text={label} wrap={wrap} />;
  if (report)
    return (
      <span class="obj" data-id={label.includes(String(id)) ? undefined : String(id)} title={String(id)}>
        <Name text={label} wrap={wrap} />
      </span>
    );
  return (
    <a
      class="obj"
      title={String(id)}
      href={linkTo(readRoute().view, { ...readRoute().params, obj: String(id), tab: undefined })}
    >
      <Name text={label} wrap={wrap} />
    </a>
  );
}

export function Value({ value, column, row }: { value: Cell; column: Column; row: Row }) {
  if (value === null || value === undefined) return <span class="dim">–</span>;
  if (typeof value === "number") {
    const date = dateOf(column.name, value);
    // a column without help text is a Java field
    if (date && !column.help) return <span title={number(value)}>{date}</span>;
    if (column.name === "percent") return <>{percent(value)}</>;
    // fixed number of decimals, so that ratios in a column align
    if (column.type === "double" && Math.abs(value) < 10) return <>{value.toFixed(3)}</>;
    return <>{Number.isInteger(value) ? number(value) : value.toPrecision(4)}</>;
  }
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (column.name === "waits_for") return <Obj id={value} text={row.waits_for_class} />;
  if (column.name === "lock_owner") return <Obj id={row.lock_owner_id} text={value} />;
  if (column.type === "id") return <Obj id={value} />;
  if (column.name === "label" && row.id) return <Obj id={row.id} text={value} />;
  const of = /^(key|value)(_label)?$/.exec(column.name)?.[1];
  if (of && row[`${of}_id`]) return <Obj id={row[`${of}_id`]} text={value} />;
  if (column.name === "label" && row.ref) return <Obj id={row.ref} text={value} />;
  if (column.name === "name" && row.id && row.id !== "0x0") return <Obj id={row.id} text={value} />;
  if (["class", "superclass", "declared_in"].includes(column.name) && /^[^<: ]+$/.test(value))
    return <ClassName name={value} />;
  if (["class", "name", "loader", "holder", "thread", "superclass", "declared_in"].includes(column.name))
    return <Name text={value} />;
  if (!column.help && /^[a-z]\w*(\.[\w$]+)+(\[| |$)/.test(value)) return <Name text={value} />;
  return <span class="text">{column.name === "help" ? forPage(visible(value)) : visible(value)}</span>;
}
