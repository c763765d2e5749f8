// The table: rows of an answer, and the answers of a query.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, Cell, Column, exportFile, File, Params, report, Row } from "./api";
import { Marks, Nearest, useKept, Wait } from "./asking";
import { menuAt, Name, select, Value } from "./objects";
import { specs } from "./parts";
import { change, readRoute } from "./route";
import { bytes, number, visible } from "./text";
const isNumber = (column: Column) => ["count", "bytes", "int", "double"].includes(column.type);

// Where the numbers of a column lead: what was summed. By column, a link or nothing.
export type Links = Record<string, (row: Row) => string | undefined>;

export function csvOf(columns: Column[], rows: Row[]): string {
  const cell = (v: Cell) => {
    const text = v === null || v === undefined ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns.map((c) => c.name).join(","), ...rows.map((r) => columns.map((c) => cell(r[c.name])).join(","))].join(
    "\r\n",
  );
}

// Where the clipboard is not to be had: after a long wait browsers want another click.
export function download(data: string | Blob, name: string): void {
  const link = document.createElement("a"),
    address = URL.createObjectURL(
      typeof data === "string"
        ? new Blob([data], {
            type: name.endsWith(".json") ? "application/json" : name.endsWith(".svg") ? "image/svg+xml" : "text/csv",
          })
        : data,
    );
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

const ROW = 25;
const REPORTED = 50; // rows of a report's table that are shown at once
export const MOST = 100000; // rows that are asked for at most
const SEARCHED = 20000; // rows that a filter looks at
// Columns that stand last.
const LATE = ["loader", "signature", "serial", "priority", "unreachable_objects", "unreachable_shallow"];

export const NARROW = 760; // pixels of a phone's window: there what it is comes first, then how much of it
const rankOf = (c: Column, all: Column[]): number =>
  ["name", "label", "class", "key", "key_label", "field"].includes(c.name) ||
  (c.name === "text" && !all.some((o) => o.name === "name"))
    ? 0
    : ["value", "retained", "wasted", "retained_delta", "below_objects"].includes(c.name)
      ? 1
      : 2;
// Columns that are shown where a row has some.
const RARE = ["native", "retained_native", "unreachable_objects", "unreachable_shallow"];

function remembered(what: string): string[] {
  try {
    return (JSON.parse(localStorage.getItem(`hidden ${what}`) ?? "[]") as string[]).map(String);
  } catch {
    return [];
  }
}

function patternOf(filter: string): RegExp | null | undefined {
  if (!filter) return null;
  try {
    return new RegExp(filter, "i");
  } catch {
    return undefined;
  }
}

// In order of a column: numbers fall first, texts rise.
function ordered(rows: Row[], sort: string): Row[] {
  const turned = sort.startsWith("-"),
    name = turned ? sort.slice(1) : sort,
    sign = turned ? -1 : 1;
  const compare = (a: Cell, b: Cell) =>
    a === null || a === undefined
      ? 1
      : b === null || b === undefined
        ? -1
        : typeof a === "number" && typeof b === "number"
          ? sign * (b - a)
          : sign * (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
  return rows.slice().sort((a, b) => compare(a[name], b[name]));
}

interface TableProps {
  columns: Column[];
  rows: Row[];
  total: number | null;
  sort?: string;
  onSort?(c: string): void;
  tree?: boolean;
  what: string;
  onOpen?(row: Row): void;
  links?: Links;
  empty?: string;
  filterKey?: string;
  onAll?(): void;
  late?: boolean;
  file?: File; // all rows and columns, as the server writes them
  // All rows, where `rows` may be the first ones; whole: there are no more.
  every?(): Promise<{ rows: Row[]; whole: boolean }>;
}

export function Table({
  columns,
  rows,
  total,
  sort: asked,
  onSort,
  tree,
  what,
  onOpen,
  links,
  empty,
  filterKey,
  onAll,
  late,
  file,
  every,
}: TableProps) {
  const [own, setOwn] = useState(""),
    [ownSort, setOwnSort] = useState<string | undefined>();
  const filter = filterKey && !report ? (readRoute().params[filterKey] ?? "") : own;
  const setFilter = (text: string) => {
    if (filterKey) change({ [filterKey]: text || undefined }, true);
    else setOwn(text);
  };
  const [closed, setClosed] = useState<Set<Row>>(new Set());
  const [top, setTop] = useState(0);
  const [at, setAt] = useState(-1);
  const [hidden, setHidden] = useState(() => (report ? [] : remembered(what)));
  const [all, setAll] = useState(false),
    [copied, setCopied] = useState(""),
    [making, setMaking] = useState<(() => void) | null>(null);
  const box = useRef<HTMLDivElement>(null);
  // Where it was scrolled to is kept while the tab is: back, forward and reload show the same rows.
  const place = `scroll ${what} ${location.hash}`,
    isBack = useRef(false);
  useLayoutEffect(() => {
    if (isBack.current || report || !box.current || rows.length === 0) return;
    isBack.current = true;
    try {
      box.current.scrollTop = Number(sessionStorage.getItem(place) ?? 0);
    } catch {
      /* from the top then */
    }
  }, [rows]);
  const onScroll = (to: number) => {
    setTop(to);
    try {
      if (to) sessionStorage.setItem(place, String(Math.round(to)));
      else sessionStorage.removeItem(place);
    } catch {
      /* not kept */
    }
    if (box.current && onAll && to + box.current.clientHeight > box.current.scrollHeight - 2000) onAll();
  };
  const sort = onSort ? asked : ownSort,
    pattern = patternOf(filter);
  useEffect(() => {
    if (pattern && onAll && total !== null && rows.length < Math.min(total, SEARCHED)) onAll();
  }, [filter, rows]);
  const matching = (list: Row[]) =>
    pattern
      ? list.filter((r) => columns.some((c) => typeof r[c.name] === "string" && pattern.test(r[c.name] as string)))
      : list;
  const shown = useMemo(() => {
    let found = matching(rows);
    if (tree && !pattern && closed.size) {
      let hidden = Infinity;
      found = rows.filter((r) => {
        const level = Number(r.level);
        if (level > hidden) return false;
        hidden = closed.has(r) ? level : Infinity;
        return true;
      });
    }
    return !tree && !onSort && ownSort ? ordered(found, ownSort) : found;
  }, [rows, filter, closed, tree, columns, ownSort]);
  const filled = columns.filter(
    (c) =>
      !(tree && c.name === "level") &&
      rows.some((r) => r[c.name] !== null && r[c.name] !== undefined && !(r[c.name] === 0 && RARE.includes(c.name))),
  );
  const last = (c: Column, i: number) => i > 0 && (LATE.includes(c.name) || (c.type === "id" && !isNumber(c)));
  const kept = filled.filter((c, i) => i === 0 || !hidden.includes(c.name));
  const wide = [...kept.filter((c, i) => !last(c, i)), ...kept.filter(last)];
  const isNarrow = innerWidth <= NARROW && !report,
    barred = ["retained", "wasted"].find((name) => wide.some((c) => c.name === name));
  const used = isNarrow ? [...wide].sort((a, b) => rankOf(a, wide) - rankOf(b, wide)) : wide;
  const parents = useMemo(
    () => new Set(tree ? rows.filter((r, i) => Number(rows[i + 1]?.level ?? -1) > Number(r.level)) : []),
    [rows, tree],
  );
  const hide = (name: string) => {
    const next = hidden.includes(name) ? hidden.filter((h) => h !== name) : [...hidden, name];
    setHidden(next);
    try {
      localStorage.setItem(`hidden ${what}`, JSON.stringify(next));
    } catch {
      /* not remembered then */
    }
  };
  const sortBy = (name: string) => {
    if (onSort) onSort(name);
    else setOwnSort(ownSort === name ? `-${name}` : ownSort === `-${name}` ? undefined : name);
  };
  const largest = useMemo(
    () => rows.reduce((m, r) => Math.max(m, Number(barred ? (r[barred] ?? 0) : 0)), 1),
    [rows, barred],
  );
  const height = Math.min(Math.max(1, shown.length) * ROW + ROW + 20, report ? 1e9 : Math.max(320, innerHeight - 190));
  const from = report ? 0 : Math.max(0, Math.floor(top / ROW) - 10),
    to = report ? (all ? shown.length : REPORTED) : from + 70;
  const toggle = (row: Row) =>
    setClosed((old) => {
      const s = new Set(old);
      if (!s.delete(row)) s.add(row);
      return s;
    });
  const open = (row: Row) => {
    if (onOpen) onOpen(row);
    else if (row.id && row.id !== "0x0" && !report) select(String(row.id));
  };
  const scrollTo = (next: number) => {
    setAt(next);
    if (!box.current) return;
    const y = next * ROW,
      view = box.current;
    if (y < view.scrollTop) view.scrollTop = y;
    if (y > view.scrollTop + view.clientHeight - 3 * ROW) view.scrollTop = y - view.clientHeight + 3 * ROW;
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.target !== box.current) return;
    const row = shown[at];
    const to: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 20,
      PageUp: at - 20,
      Home: 0,
      End: shown.length - 1,
    };
    if (to[e.key] !== undefined) scrollTo(Math.max(0, Math.min(shown.length - 1, to[e.key])));
    else if (e.key === "Enter" && row) open(row);
    else if (e.key === "." && row?.id && row.id !== "0x0") {
      const here = box.current!.querySelector("tr.at")?.getBoundingClientRect();
      menuAt(String(row.id), here?.left ?? 100, here?.bottom ?? 100);
    } else if (tree && row && e.key === "ArrowLeft") {
      if (parents.has(row) && !closed.has(row)) toggle(row);
      else
        for (let i = at - 1; i >= 0; i--)
          if (Number(shown[i].level) < Number(row.level)) {
            scrollTo(i);
            break;
          }
    } else if (tree && row && e.key === "ArrowRight" && parents.has(row)) {
      if (closed.has(row)) toggle(row);
      else scrollTo(at + 1);
    } else return;
    e.preventDefault();
  };
  const fileName = (ending: string) => `${what.replace(/[^\w.-]+/g, "-")}.${ending}`;
  // All rows and columns, made by the server; what a filter leaves is written here.
  const save = async (as: "csv" | "json" | "parquet") => {
    if (!file || pattern) return copy(as === "json" ? "json" : "csv");
    const made = exportFile(file, as, (p) =>
      setCopied(
        p.rows
          ? `Writing: ${number(p.rows)}${total ? ` of ${number(total)}` : ""} rows`
          : p.state === "none"
            ? "Sending …"
            : `${p.stage || "Asking for all rows"} …`,
      ),
    );
    setMaking(() => made.cancel);
    setCopied("Asking for all rows …");
    try {
      const data = await made.file;
      download(data, fileName(as));
      setCopied(`Saved ${bytes(data.size)}`);
    } catch (e) {
      setCopied((e as Error).message);
    }
    setMaking(null);
    setTimeout(() => setCopied(""), 4000);
  };
  // All rows, not only those that were loaded to be looked at; how many is said.
  const copy = async (as: "copy" | "csv" | "json") => {
    let list = shown,
      whole = true;
    try {
      if (every && (total === null || rows.length < total)) {
        setCopied("Asking for all rows …");
        const found = await every();
        whole = found.whole;
        list = matching(!tree && !onSort && ownSort ? ordered(found.rows, ownSort) : found.rows);
      }
      const csv =
          as === "json"
            ? JSON.stringify(
                list.map((r) => Object.fromEntries(used.map((c) => [c.name, r[c.name] ?? null]))),
                null,
                1,
              )
            : csvOf(used, list),
        name = fileName(as === "json" ? "json" : "csv"),
        said = `${whole ? "" : "the first "}${number(list.length)} rows${whole ? "" : ": `heapdb query` has no limit"}`;
      const keep = () => {
        download(csv, name);
        setCopied(`Saved ${said}`);
      };
      if (as === "copy") await navigator.clipboard.writeText(csv).then(() => setCopied(`Copied ${said}`), keep);
      else keep();
    } catch (e) {
      setCopied((e as Error).message);
    }
    setTimeout(() => setCopied(""), 4000);
  };
  const whole = total === null ? "many" : number(Math.max(total, rows.length));
  return (
    <div class={late ? "table late" : "table"} aria-busy={late}>
      <div class="tools">
        {!report && rows.length > 0 && (
          <input
            type="search"
            size={26}
            placeholder="Filter: regular expression"
            aria-label={`Filter ${what}`}
            aria-invalid={pattern === undefined}
            value={filter}
            onInput={(e) => setFilter((e.target as HTMLInputElement).value)}
          />
        )}
        {rows.length > 0 && (
          <span class="count" role="status">
            {pattern === undefined ? <span class="error">This is not a valid regular expression yet. </span> : null}
            {number(shown.length)} of {whole} rows
            {pattern && total !== null && rows.length < total ? `, looked for in the first ${number(rows.length)}` : ""}
          </span>
        )}
        {!report && rows.length > 0 && (
          <>
            <button onClick={() => void copy("copy")} aria-live="polite">
              {copied || "Copy as CSV"}
            </button>
            {making && <button onClick={making}>Cancel</button>}
            <span class="group">
              <button disabled={!!making} onClick={() => void save("csv")} title="All rows as a CSV file">
                CSV
              </button>
              <button disabled={!!making} onClick={() => void save("json")} title="All rows as a JSON file">
                JSON
              </button>
              {file && !pattern && (
                <button
                  disabled={!!making}
                  onClick={() => void save("parquet")}
                  title="All rows as a Parquet file, for DuckDB, Spark, pandas"
                >
                  Parquet
                </button>
              )}
            </span>
          </>
        )}
        {report && to < shown.length && (
          <button class="print" onClick={() => setAll(true)}>
            Show all {number(shown.length)}
          </button>
        )}
        {!report && filled.length > 2 && (
          <details class="columns">
            <summary>Columns{hidden.length ? ` (${number(kept.length)} of ${number(filled.length)})` : ""}</summary>
            <div>
              {filled.slice(1).map((c) => (
                <label title={c.help}>
                  <input type="checkbox" checked={!hidden.includes(c.name)} onChange={() => hide(c.name)} /> {c.title}
                </label>
              ))}
            </div>
          </details>
        )}
      </div>
      {rows.length > 0 && (
        <div
          class="scroll"
          ref={box}
          style={{ height: report ? "auto" : `${height}px` }}
          tabIndex={0}
          onKeyDown={onKey}
          onScroll={(e) => onScroll((e.target as HTMLElement).scrollTop)}
          role="region"
          aria-label={what}
        >
          <table class={tree ? "deep" : undefined} aria-rowcount={shown.length}>
            <thead>
              <tr>
                {used.map((c) => (
                  <th
                    title={c.help}
                    class={isNumber(c) ? "n" : ""}
                    aria-sort={
                      sort === c.name
                        ? isNumber(c)
                          ? "descending"
                          : "ascending"
                        : sort === `-${c.name}`
                          ? isNumber(c)
                            ? "ascending"
                            : "descending"
                          : "none"
                    }
                  >
                    {!tree && !report ? (
                      <button onClick={() => sortBy(c.name)}>
                        {c.title}
                        {sort === c.name ? " ▾" : sort === `-${c.name}` ? " ▴" : ""}
                      </button>
                    ) : (
                      c.title
                    )}
                    {c.type === "bytes" && !/bytes/i.test(c.title) ? <small> bytes</small> : null}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {from > 0 && <tr style={{ height: `${from * ROW}px` }} />}
              {shown.slice(from, to).map((row, i) => (
                <tr
                  key={from + i}
                  class={from + i === at ? "at" : ""}
                  onClick={() => setAt(from + i)}
                  onDblClick={() => open(row)}
                >
                  {used.map((c, j) => (
                    <td
                      class={isNumber(c) ? "n" : LATE.includes(c.name) ? "narrow" : ""}
                      title={
                        typeof row[c.name] === "string" && String(row[c.name]).length > 40
                          ? visible(String(row[c.name]))
                          : undefined
                      }
                    >
                      {tree && j === 0 && (
                        <span style={{ paddingLeft: `${Math.min(40, Number(row.level)) * (isNarrow ? 4 : 14)}px` }}>
                          {parents.has(row) ? (
                            <button
                              class="twist"
                              aria-label="fold"
                              aria-expanded={!closed.has(row)}
                              onClick={() => toggle(row)}
                            >
                              {closed.has(row) ? "▸" : "▾"}
                            </button>
                          ) : (
                            <span class="twist" />
                          )}
                        </span>
                      )}
                      {c.name === barred && typeof row[barred] === "number" && (
                        <i class="bar" style={{ width: `${Math.round((60 * Number(row[barred])) / largest)}px` }} />
                      )}
                      <Held
                        row={row}
                        column={c}
                        to={report || row[c.name] === 0 ? undefined : links?.[c.name]?.(row)}
                      />
                    </td>
                  ))}
                </tr>
              ))}
              {to < shown.length && !report && <tr style={{ height: `${(shown.length - to) * ROW}px` }} />}
            </tbody>
          </table>
          {report && to < shown.length && <p class="dim">{number(shown.length - to)} more rows are in this file.</p>}
          {shown.length === 0 && (
            <p class="empty">
              {`None of ${number(rows.length)} rows matches “${filter}”: the filter looks at all texts of a row, `}
              in upper or lower case.
            </p>
          )}
        </div>
      )}
      {rows.length === 0 && <p class="empty">{empty ?? "There are none."}</p>}
    </div>
  );
}

// A value, or a link with it.
function Held({ row, column, to }: { row: Row; column: Column; to?: string }) {
  if (!to) return <Value value={row[column.name]} column={column} row={row} />;
  return (
    <a href={to}>
      {typeof row[column.name] === "string" ? (
        <Name text={String(row[column.name])} />
      ) : (
        <Value value={row[column.name]} column={column} row={{}} />
      )}
    </a>
  );
}

// A question of the registry, with its columns, sorted by the server, in pages.
export function QueryTable({
  query,
  params,
  what,
  sortKey,
  onOpen,
  hide,
  columns,
  limit: fixed,
  links,
  empty,
  each,
  titles,
  first,
}: {
  query: string;
  params: Params;
  what: string;
  sortKey?: string;
  onOpen?(row: Row): void;
  hide?: string[];
  columns?: string[];
  limit?: number;
  links?: Links;
  empty?: string;
  each?(row: Row): Row;
  titles?: Record<string, string>;
  first?: string[];
}) {
  const [limit, setLimit] = useState(fixed ?? 1000);
  const sort = (sortKey ? readRoute().params[sortKey] : undefined) ?? (params.sort as string | undefined);
  const asked = useKept(query, { ...params, sort, limit: String(limit) }, query + JSON.stringify(params));
  const spec = specs.get(query),
    answer = asked.answer;
  const cols = useMemo(() => {
    const known = new Map(spec?.columns.map((c) => [c.name, c]));
    const names =
      (columns
        ? columns.filter((c) => answer?.columns.includes(c))
        : answer?.columns.filter((c) => !hide?.includes(c))) ?? [];
    const front = (first ?? []).filter((name) => names.includes(name)),
      ordered = [...front, ...names.filter((name) => !front.includes(name))];
    return ordered.map((name) => ({
      ...(known.get(name) ?? { name, title: name, help: "", type: "text" }),
      ...(titles?.[name] ? { title: titles[name] } : {}),
    }));
  }, [answer]);
  const rows = useMemo(() => (each && answer ? answer.rows.map(each) : (answer?.rows ?? [])), [answer]);
  if (!answer || asked.error)
    return (
      <>
        <Wait asked={asked} what={what} />
        {asked.code === "HDB_NOTFOUND" &&
        typeof params.target === "string" &&
        !report &&
        !params.target.startsWith("0x") ? (
          <Nearest word={params.target} db={params.db as string | undefined} />
        ) : null}
      </>
    );
  const more = !report && !fixed && answer.total_rows !== null && answer.total_rows > answer.row_count && limit < MOST;
  return (
    <>
      <Marks facts={answer.facts} />
      <Table
        columns={cols}
        rows={rows}
        total={answer.total_rows}
        sort={sort}
        what={what}
        onOpen={onOpen}
        links={links}
        empty={empty}
        late={asked.late}
        tree={answer.columns.includes("level")}
        filterKey={sortKey ? "filter" : undefined}
        file={report ? undefined : { query, params: { ...params, sort } }}
        every={
          report
            ? undefined
            : () =>
                ask(query, { ...params, sort, limit: String(MOST) }).answer.then((a) => ({
                  rows: each ? a.rows.map(each) : a.rows,
                  whole: a.row_count < MOST || a.row_count === a.total_rows,
                }))
        }
        onAll={more ? () => setLimit(Math.max(limit, SEARCHED)) : undefined}
        onSort={
          sortKey ? (c) => change({ [sortKey]: sort === c ? `-${c}` : sort === `-${c}` ? undefined : c }) : undefined
        }
      />
      {asked.late && <Wait asked={{ ...asked, answer: undefined }} what={what} />}
      {more && (
        <button class="more" onClick={() => setLimit(Math.min(MOST, limit * 5))}>
          Load more rows
        </button>
      )}
    </>
  );
}
