// The columns of a table: which ones fit, the Columns menu, and their headings.
import { Ref } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Cell, Column, report, Row } from "./api";
import { number } from "./text";

const SHORT_TEXT = 240; // maximum width in pixels of texts in tables with many columns, as in app.css
const TIGHT = 1100; // pixels; in narrower windows, tables begin with names and the main figures

export const isNumber = (column: Column) => ["count", "bytes", "int", "double"].includes(column.type);

// Columns that are moved to the end.
export const LAST = ["loader", "signature", "serial", "priority", "unreachable_objects", "unreachable_shallow"];
// Columns that are hidden if all their values are 0.
const OPTIONAL = ["native", "retained_native", "unreachable_objects", "unreachable_shallow"];
const NAMES = ["name", "label", "key", "key_label", "field"];
const FIGURES = ["value", "text", "retained", "wasted", "retained_delta", "below_objects"];

// Order of columns in narrow windows: names, the column that orders the rows, the main figures, then all others.
function rankOf(c: Column, all: Column[], order?: string): number {
  const has = (names: string[]) => all.some((o) => names.includes(o.name)),
    first = [NAMES, ["class"], ["text"], ["id"]].find(has) ?? [];
  if (c === all[0] && c.type !== "id") return 0;
  return first.includes(c.name) ? 0 : c.name === order ? 1 : FIGURES.includes(c.name) ? 2 : 3;
}

// The user's choices in the Columns menu, by name of column.
type Choices = Record<string, boolean>;

function remembered(what: string): Choices {
  try {
    const stored = report ? null : JSON.parse(localStorage.getItem(`columns ${what}`) ?? "{}");
    return Object.fromEntries(Object.entries(stored ?? {}).map(([name, isShown]) => [name, isShown === true]));
  } catch {
    return {};
  }
}

export interface Shown {
  used: Column[]; // shown columns, in order
  filled: Column[]; // columns with values; all except the first can be hidden
  choose(name: string, isShown: boolean): void;
  barred?: string; // the column with bars
  isCrowded: boolean; // whether columns have no room, or have room only because texts are shortened
  isTight: boolean;
}

// Input of useColumns: the rows, and how the table shows them.
export interface Given {
  columns: Column[];
  rows: Row[];
  what: string;
  tree?: boolean;
  order?: string; // column that orders the rows if the user does not sort them
  sort?: string;
  hasAllColumns?: boolean; // whether the user has chosen the columns, so that none is hidden for lack of room
}

// Selects and orders the columns: those with values, without columns that the user has hidden or that have no room.
export function useColumns(
  { columns, rows, what, tree, order, sort, hasAllColumns }: Given,
  box: Ref<HTMLDivElement>,
  isTicking: boolean,
): Shown {
  const [choices, setChoices] = useState(() => remembered(what));
  const isEmpty = (v: Cell, name: string) => v === null || v === undefined || (v === 0 && OPTIONAL.includes(name));
  const filled = useMemo(
    () => columns.filter((c) => !(tree && c.name === "level") && rows.some((r) => !isEmpty(r[c.name], c.name))),
    [columns, rows, tree],
  );
  const barred = useMemo(() => ["retained", "wasted"].find((name) => filled.some((c) => c.name === name)), [filled]);
  // Bars of equal length carry no information.
  const hasBars = useMemo(
    () =>
      barred &&
      rows.some((r) => Number(r[barred]) > 0) &&
      (rows.length === 1 || rows.some((r) => r[barred] !== rows[0][barred])),
    [barred, rows],
  );
  const isLast = (c: Column, i: number) =>
    i > 0 && (LAST.includes(c.name) || (c.type === "id" && c.name !== "waits_for"));
  const wide = [...filled.filter((c, i) => !isLast(c, i)), ...filled.filter(isLast)],
    isTight = innerWidth <= TIGHT && !report,
    all = isTight ? [...wide].sort((a, b) => rankOf(a, wide, order) - rankOf(b, wide, order)) : wide;
  const isKept = (c: Column) => hasAllColumns || c === all[0] || choices[c.name] || c.name === sort?.replace("-", "");
  const crowded = useCrowded(box, all, isKept, JSON.stringify([choices, isTicking])),
    used = all.filter((c) => choices[c.name] ?? (isKept(c) || !crowded?.includes(c.name)));
  const choose = (name: string, isShown: boolean) => {
    const next = { ...choices, [name]: isShown };
    setChoices(next);
    try {
      if (!report) localStorage.setItem(`columns ${what}`, JSON.stringify(next));
    } catch {
      /* storage is blocked: the choice is not remembered */
    }
  };
  return {
    filled,
    choose,
    isTight,
    isCrowded: crowded !== undefined,
    used,
    barred: hasBars && used.some((c) => c.name === barred) ? barred : undefined,
  };
}

// Names of the columns that do not fit, where the first columns take precedence; undefined if all columns fit with long
// texts. All columns are drawn once, to measure them.
function useCrowded(
  box: Ref<HTMLDivElement>,
  all: Column[],
  isKept: (c: Column) => boolean,
  layout: string, // value that changes with any other property that affects the width
): string[] | undefined {
  const [width, setWidth] = useState(0),
    key = `${width} ${all.map((c) => c.name).join()} ${layout}`,
    [found, setFound] = useState({ key: "", names: [] as string[] });
  const element = () => (box as { current: HTMLDivElement | null }).current;
  useLayoutEffect(() => {
    const table = element();
    if (!table) return;
    const observer = new ResizeObserver(() => setWidth(table.clientWidth));
    observer.observe(table);
    return () => observer.disconnect();
  }); // after each drawing, because a filter without matches removes the table
  useLayoutEffect(() => {
    const table = element();
    if (!table || table.scrollWidth <= table.clientWidth) return;
    const widths = new Map([...table.querySelectorAll<HTMLElement>("th")].map((h) => [h.dataset.name, h.offsetWidth]));
    const others = all.filter((c) => !isKept(c) && widths.has(c.name)),
      needed = (c: Column) => Math.min(widths.get(c.name)!, isNumber(c) ? Infinity : SHORT_TEXT);
    let room = table.clientWidth - table.scrollWidth;
    for (const c of others) room += widths.get(c.name)!;
    const names = found.key === key ? [...found.names] : [];
    for (const c of others)
      if (needed(c) <= room) room -= needed(c);
      else names.push(c.name);
    if (found.key !== key || names.length > found.names.length) setFound({ key, names });
  }); // after each drawing, because other rows may have longer values
  return found.key === key ? found.names : undefined;
}

export function ColumnsMenu({ of: { filled, used, choose } }: { of: Shown }) {
  if (filled.length <= 2 && used.length === filled.length) return null;
  return (
    <details class="columns">
      <summary>
        Columns
        {used.length < filled.length && (
          <span>
            {" "}
            ({number(used.length)} of {number(filled.length)})
          </span>
        )}
      </summary>
      <div>
        {filled.slice(1).map((c) => (
          <label title={c.help}>
            <input
              type="checkbox"
              checked={used.includes(c)}
              onChange={(e) => choose(c.name, (e.target as HTMLInputElement).checked)}
            />{" "}
            {c.title}
          </label>
        ))}
      </div>
    </details>
  );
}
// ---- headings ----

function sortOf(column: Column, sort?: string): "none" | "ascending" | "descending" {
  if (sort !== column.name && sort !== `-${column.name}`) return "none";
  return (sort === column.name) === isNumber(column) ? "descending" : "ascending";
}

interface HeadProps {
  column: Column;
  sort?: string;
  isBarred: boolean;
  onSort?(name: string): void;
}

export const AT_LEAST = ", at least"; // suffix of the titles of lower bounds

export function Head({ column: c, sort, isBarred, onSort }: HeadProps) {
  const title = c.title.replace(AT_LEAST, ""),
    notes = [title !== c.title && "at least", c.type === "bytes" && !/bytes/i.test(title) && "bytes"].filter(Boolean);
  const mark = sort === c.name ? "\u00a0▾" : sort === `-${c.name}` ? "\u00a0▴" : "";
  return (
    <th
      title={c.help}
      class={`${isNumber(c) ? "n" : ""}${isBarred ? " barred" : ""}`}
      data-name={c.name}
      aria-sort={sortOf(c, sort)}
    >
      {onSort ? (
        <button onClick={() => onSort(c.name)}>
          {title}
          {mark}
        </button>
      ) : (
        title
      )}
      {notes.length > 0 && <small> {notes.join(", ")}</small>}
    </th>
  );
}
