// The SQL console: completion, saved statements, results as a table, bar chart or treemap.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, ask, Cell, Column, Row } from "./api";
import { Node } from "./layout";
import { blank, weigh } from "./layout";
import { Picture } from "./picture";
import { useAnswer, usePrevious, Wait } from "./asking";
import { classPage, Obj, select } from "./objects";
import { Choice, NARROW, Panel } from "./parts";
import { MOST, useFilter } from "./query";
import { Table } from "./table";
import { change, href, readRoute, Route } from "./route";
import { number, visible } from "./text";

export interface Saved {
  name: string;
  text: string;
}

export const shipped: Saved[] = [
  { name: "Biggest objects", text: "SELECT id, class, shallow, retained FROM objects ORDER BY retained DESC LIMIT 20" },
  {
    name: "Objects and bytes by class",
    text:
      "SELECT class, count(*) AS objects, sum(shallow) AS bytes FROM objects GROUP BY class ORDER BY bytes " +
      "DESC LIMIT 30",
  },
  {
    name: "Bytes by package",
    text:
      "SELECT package, sum(objects) AS objects, sum(shallow) AS bytes FROM classes GROUP BY package ORDER " +
      "BY bytes DESC LIMIT 30",
  },
  {
    name: "Classes defined by several class loaders",
    text:
      "SELECT name, count(*) AS loaders, sum(objects) AS objects FROM classes WHERE NOT is_array GROUP BY " +
      "name HAVING loaders > 1 ORDER BY loaders DESC",
  },
  {
    name: "Largest arrays",
    text: "SELECT id, class, length, shallow, retained FROM arrays ORDER BY shallow DESC LIMIT 20",
  },
  {
    name: "Collections by wasted bytes",
    text: "SELECT class, kind, objects, elements, capacity, wasted FROM collections ORDER BY wasted DESC LIMIT 20",
  },
  {
    name: "Duplicate strings",
    text: "SELECT text, objects, wasted FROM duplicates WHERE text IS NOT NULL ORDER BY wasted DESC LIMIT 20",
  },
  {
    name: "Threads and what they retain",
    text: "SELECT id, name, class, frames, retained FROM threads ORDER BY retained DESC LIMIT 20",
  },
  {
    name: "HashMaps with more than 1,000 entries",
    text: 'SELECT id, size, shallow, retained FROM "java.util.HashMap" WHERE size > 1000 ORDER BY size DESC',
  },
  {
    name: "Strings of more than 10,000 characters",
    text:
      "SELECT id, length(text) AS characters, retained, substr(text, 1, 80) AS beginning FROM strings WHERE " +
      "shallow + retained > 10000 AND length(text) > 10000 ORDER BY characters DESC LIMIT 50",
  },
  {
    name: "What holds the byte[] arrays",
    text:
      "SELECT d.class AS holder, count(*) AS arrays, sum(o.shallow) AS bytes FROM objects o JOIN objects d " +
      "ON d.id = o.dominator WHERE o.class = 'byte[]' GROUP BY holder ORDER BY bytes DESC LIMIT 30",
  },
  {
    name: "Classes with the largest retained size per object",
    text:
      "SELECT class, count(*) AS objects, max(retained) AS largest, avg(retained) AS average FROM objects " +
      "GROUP BY class ORDER BY average DESC LIMIT 30",
  },
  {
    name: "Methods that the most threads run",
    text: "SELECT frame, count(DISTINCT thread) AS threads FROM frames GROUP BY frame ORDER BY threads DESC LIMIT 30",
  },
  {
    name: "Local variables that retain the most",
    text:
      "SELECT t.name AS thread, l.id, l.class, o.retained FROM locals l JOIN objects o ON o.id = l.id JOIN " +
      "threads t ON t.serial = l.thread ORDER BY o.retained DESC LIMIT 20",
  },
  {
    name: "Bytes by heap (Android)",
    text: "SELECT heap, count(*) AS objects, sum(shallow) AS bytes FROM objects GROUP BY heap ORDER BY bytes DESC",
  },
];

export function stored(): Saved[] {
  try {
    const list = JSON.parse(localStorage.getItem("sql") ?? "[]") as Saved[];
    return Array.isArray(list) ? list.filter((s) => typeof s.name === "string" && typeof s.text === "string") : [];
  } catch {
    return [];
  }
}

function store(list: Saved[]): void {
  try {
    localStorage.setItem("sql", JSON.stringify(list));
  } catch {
    /* storage is blocked: statements last until the page is closed */
  }
}

// ---- completion ----

const words = (
  "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN LEFT USING ON AS WITH RECURSIVE UNION ALL DISTINCT " +
  "CASE WHEN THEN ELSE END " +
  "AND OR NOT IN LIKE GLOB BETWEEN IS NULL ASC DESC EXISTS count sum min max avg total substr length " +
  "upper lower coalesce round printf instr hex"
).split(" ");

async function names(sql: string, db?: string): Promise<string[]> {
  try {
    return (await ask("sql", { q: sql, db, limit: "5000" }).answer).rows.map((r) => String(r.name));
  } catch {
    return [];
  }
}

const text = (s: string) => `'${s.replace(/'/g, "''")}'`;
const quote = (name: string) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replace(/"/g, '""')}"`);

// Names of tables, without SQLite's own. If several databases are open, modules are named "heapdb NAME TABLE".
async function tableNames(db?: string): Promise<string[]> {
  return [
    ...new Set(
      (await names("SELECT DISTINCT name FROM pragma_module_list ORDER BY 1", db)).map((n) =>
        n.replace(/^heapdb .* /, ""),
      ),
    ),
  ]
    .sort()
    .filter(
      (n) => !/^(pragma_|fts|json_|dbstat|query_|rtree|bytecode|sqlite|geopoly|tables_used|completion)|-/.test(n),
    );
}
const columnNames = (table: string, db?: string) =>
  names(`SELECT name FROM pragma_table_xinfo(${text(table)}) WHERE hidden = 0 /* ${quote(table)} */`, db);

const FIRST = [
  "objects",
  "classes",
  "strings",
  "arrays",
  "collections",
  "threads",
  "frames",
  "locals",
  "roots",
  "refs",
  "instances",
  "duplicates",
];

function TableOf({ name, db, onTake }: { name: string; db?: string; onTake(word: string): void }) {
  const [columns, setColumns] = useState<string[] | null>(null);
  return (
    <li>
      <details
        onToggle={(e) => {
          if ((e.target as HTMLDetailsElement).open && !columns) void columnNames(name, db).then(setColumns);
        }}
      >
        <summary>{visible(name)}</summary>
        <p>
          {columns
            ? columns.map((c, i) => (
                <>
                  {i > 0 && ", "}
                  <button onClick={() => onTake(quote(c))}>{visible(c)}</button>
                </>
              ))
            : null}{" "}
          <button onClick={() => onTake(quote(name))}>table name</button>
        </p>
      </details>
    </li>
  );
}

// Tables and their columns; a click inserts the name into the statement.
function Schema({ db, isOpen, onTake }: { db?: string; isOpen: boolean; onTake(word: string): void }) {
  const [tables, setTables] = useState<string[] | null>(null);
  const order = (n: string) => (FIRST.includes(n) ? FIRST.indexOf(n) : FIRST.length);
  return (
    <details
      class="schema"
      open={isOpen}
      onToggle={(e) => {
        if (e.target === e.currentTarget && (e.target as HTMLDetailsElement).open && !tables)
          void tableNames(db).then((t) => setTables(t.sort((a, b) => order(a) - order(b))));
      }}
    >
      <summary>Tables and columns</summary>
      {tables && (
        <ul>
          {tables.map((t) => (
            <TableOf name={t} db={db} onTake={onTake} />
          ))}
        </ul>
      )}
    </details>
  );
}

// Saved and predefined statements, shown while there is no result.
function Questions({ saved }: { saved: Saved[] }) {
  return (
    <ul class="asks">
      {[...saved, ...shipped].map((s) => (
        <li>
          <a href={href("sql", { ...readRoute().params, sql: s.text })}>{visible(s.name)}</a>
          <code>{visible(s.text)}</code>
        </li>
      ))}
    </ul>
  );
}

// Completions at the caret: class names inside quotes, otherwise columns of the tables in the statement, tables and
// keywords.
async function complete(statement: string, caret: number, db?: string): Promise<{ from: number; list: string[] }> {
  const before = statement.slice(0, caret);
  const open = /"([^"]*)$/.exec((before.match(/"/g)?.length ?? 0) % 2 ? before : "");
  if (open) {
    const list = await names(
      `SELECT DISTINCT name FROM classes WHERE name LIKE ${text(`%${open[1]}%`)} ORDER BY objects DESC LIMIT 30`,
      db,
    );
    return { from: caret - open[1].length - 1, list: list.map((n) => `"${n}"`) };
  }
  const word = /[A-Za-z_][A-Za-z0-9_]*$/.exec(before)?.[0] ?? "",
    from = caret - word.length;
  const tables = await tableNames(db);
  const used = [...statement.matchAll(/\b(?:from|join)\s+("([^"]+)"|[A-Za-z_.]+)/gi)].map((m) => m[2] ?? m[1]);
  const columns: string[] = [];
  for (const table of used.slice(0, 5)) columns.push(...(await columnNames(table, db)));
  if (!word && !columns.length) return { from, list: [] };
  const seen = new Set<string>(),
    low = word.toLowerCase();
  const list = [...columns.map(quote), ...tables, ...words].filter(
    (n) => n.toLowerCase().startsWith(low) && n !== word && !seen.has(n) && seen.add(n),
  );
  return { from, list: list.slice(0, 30) };
}

// ---- rows ----

function columnsOf(answer: Answer): Column[] {
  return answer.columns.map((name) => {
    const first = answer.rows.find((r) => r[name] !== null)?.[name];
    const type =
      typeof first === "number"
        ? answer.in_bytes?.includes(name)
          ? "bytes"
          : Number.isInteger(first)
            ? "count"
            : "double"
        : typeof first === "boolean"
          ? "bool"
          : typeof first === "string" && /^0x[0-9a-f]{1,16}$/.test(first)
            ? "id"
            : "text";
    return { name, title: name, help: "", type };
  });
}

// The columns shown by a bar chart or treemap: one of numbers and one of names.
function picked(
  columns: Column[],
  route: Route,
): { numeric: Column[]; labels: Column[]; value?: Column; label?: Column } {
  const numeric = columns.filter((c) => ["bytes", "count", "double"].includes(c.type));
  const labels = columns.filter((c) => !numeric.includes(c));
  return {
    numeric,
    labels,
    value: numeric.find((c) => c.name === route.params.of) ?? numeric[numeric.length - 1],
    label: labels.find((c) => c.name === route.params.by) ?? labels.find((c) => c.type === "text") ?? labels[0],
  };
}

// Lets the user choose these columns.
function Of({ columns, route, what }: { columns: Column[]; route: Route; what: string }) {
  const { numeric, labels, value, label } = picked(columns, route);
  return (
    <>
      {numeric.length > 1 && (
        <Choice
          label={what}
          value={value!.name}
          choices={numeric.map((c) => [c.name])}
          onChange={(of) => change({ of }, true)}
        />
      )}
      {labels.length > 1 && (
        <Choice
          label="Name"
          value={label!.name}
          choices={labels.map((c) => [c.name])}
          onChange={(by) => change({ by }, true)}
        />
      )}
    </>
  );
}

// SQL sums have no type, so guess from the column's name whether they are sizes.
const isSize = (c?: Column) => c !== undefined && (c.type === "bytes" || /bytes|shallow|retained|size/i.test(c.name));

// Rows as a treemap. A click opens the row's object or class.
function Areas({ columns, rows, route }: { columns: Column[]; rows: Row[]; route: Route }) {
  const { value, label } = picked(columns, route),
    id = columns.find((c) => c.type === "id");
  const root = useMemo(() => {
    const top: Node = { ...blank("all rows"), plain: !isSize(value) };
    if (value)
      top.children = rows
        .filter((r) => Number(r[value.name]) > 0)
        .map((r, i): Node => ({
          ...blank(String((label && r[label.name]) ?? i + 1) || "(none)"),
          whole: label !== undefined && label.type === "text" && label.name !== "class",
          key: String(i),
          plain: top.plain,
          bytes: Number(r[value.name]),
          count: 1,
          id: id && r[id.name] ? String(r[id.name]) : null,
          parent: top,
        }));
    top.bytes = top.children.reduce((s, c) => s + c.bytes, 0);
    weigh([top, ...top.children], false);
    return top;
  }, [rows, value?.name, label?.name]);
  if (!value || !root.children.length)
    return (
      <p class="empty">
        A treemap needs a column of numbers above 0: try SELECT class, sum(shallow) AS bytes FROM objects GROUP BY
        class.
      </p>
    );
  return (
    <>
      <div class="tools">
        <Of columns={columns} route={route} what="Area" />
      </div>
      <Picture
        root={root}
        whole={0}
        shape="treemap"
        by="class"
        search=""
        late={false}
        grown={false}
        onZoom={(n) => {
          if (n.id) select(n.id);
          else if (label?.name === "class") location.hash = classPage(n.name);
        }}
      />
    </>
  );
}

function Bars({ columns, rows, route }: { columns: Column[]; rows: Row[]; route: Route }) {
  const { value, label } = picked(columns, route);
  if (!value)
    return <p class="empty">Bars need a column of numbers: try SELECT class, count(*) FROM objects GROUP BY class.</p>;
  const shown = rows.slice(0, 200),
    most = Math.max(1e-9, ...shown.map((r) => Math.abs(Number(r[value.name] ?? 0))));
  return (
    <>
      <div class="tools">
        <Of columns={columns} route={route} what="Length" />
        <span class="count">
          {number(shown.length)} of {number(rows.length)} rows
        </span>
      </div>
      <table class="bars" aria-label={`${value.name} by ${label?.name ?? "row"}`}>
        <tbody>
          {shown.map((r, i) => {
            const n = Number(r[value.name] ?? 0),
              name: Cell = label ? r[label.name] : i + 1;
            return (
              <tr>
                <th scope="row">{label?.type === "id" ? <Obj id={name} /> : visible(String(name ?? "–"))}</th>
                <td>
                  <i class={n < 0 ? "less" : ""} style={{ width: `${(100 * Math.abs(n)) / most}%` }} />
                </td>
                <td class="n">{number(n)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

// Statement that counts the rows of a statement, because the server counts them only if it returns all rows.
const countOf = (statement: string) => `SELECT count(*) AS n FROM (${statement.replace(/;\s*$/, "")}\n)`;

function Result({ statement, route }: { statement: string; route: Route }) {
  const limit = Number(route.params.limit ?? 1000),
    { filter, rememberTotal } = useFilter(false);
  const params = {
    q: statement,
    db: route.params.db,
    all: route.params.objects === "all" ? "1" : undefined,
    filter: filter.text.trim() || undefined,
  };
  const reply = usePrevious("sql", { ...params, limit: String(limit) }, statement),
    answer = reply.answer;
  const columns = useMemo(() => (answer ? columnsOf(answer) : []), [answer]);
  const isCut = answer?.row_count === limit,
    isUncounted = isCut && !reply.late && !params.filter,
    counting = useAnswer(isUncounted ? "sql" : "", { ...params, q: countOf(statement), limit: "1" }),
    count = counting.answer?.rows[0]?.n;
  if (!answer || reply.error) return <Wait reply={reply} what="rows" />;
  const total = isUncounted ? (typeof count === "number" ? count : null) : answer.total_rows;
  if (!reply.late) rememberTotal(total);
  return (
    <div class="result">
      {isCut && (
        <p class="mark">
          <b>Cut off:</b> only the first {number(limit)} {total ? `of ${number(total)} ` : ""}rows.{" "}
          {limit < MOST && <button onClick={() => change({ limit: String(Math.min(MOST, limit * 10)) })}>More</button>}
        </p>
      )}
      {route.params.as === "treemap" ? (
        <Areas columns={columns} rows={answer.rows} route={route} />
      ) : route.params.as === "bars" ? (
        <Bars columns={columns} rows={answer.rows} route={route} />
      ) : (
        <Table
          columns={columns}
          rows={answer.rows}
          total={total}
          what="rows"
          empty="The statement returned no rows."
          late={reply.late}
          hasAllColumns
          filter={filter}
          file={{ query: "sql", params }}
          every={() =>
            ask("sql", { ...params, limit: String(MOST) }).answer.then((a) => ({
              rows: a.rows,
              whole: a.row_count < MOST,
            }))
          }
          onOpen={(row) => {
            const id = columns.find((c) => c.type === "id" && row[c.name]);
            if (id) select(String(row[id.name]));
          }}
        />
      )}
    </div>
  );
}

export function Sql({ route }: { route: Route }) {
  const sql = route.params.sql ?? "",
    db = route.params.db;
  const [draft, setDraft] = useState(sql);
  const [offer, setOffer] = useState<{ from: number; list: string[]; at: number }>({ from: 0, list: [], at: 0 });
  const [saved, setSaved] = useState(stored);
  const area = useRef<HTMLTextAreaElement>(null),
    turn = useRef(0);
  useEffect(() => {
    if (sql) setDraft(sql);
  }, [sql]);
  const none = () => {
    turn.current++;
    setOffer({ from: 0, list: [], at: 0 });
  };
  const look = async () => {
    const mine = ++turn.current,
      box = area.current;
    if (!box) return;
    const found = await complete(box.value, box.selectionStart, db);
    if (mine === turn.current) setOffer({ ...found, at: 0 });
  };
  const typed = () => {
    const box = area.current!;
    setDraft(box.value);
    if (/[A-Za-z_"$.]$/.test(box.value.slice(0, box.selectionStart))) void look();
    else none();
  };
  const take = (word: string) => {
    const box = area.current!,
      end = box.selectionStart,
      rest = box.value.slice(end).replace(/^"/, word.endsWith('"') ? "" : '"');
    const now = `${box.value.slice(0, offer.from)}${word}${rest}`,
      caret = offer.from + word.length;
    box.value = now;
    box.setSelectionRange(caret, caret);
    box.focus();
    setDraft(now);
    none();
  };
  const insert = (word: string) => {
    const box = area.current!,
      at = box.selectionStart,
      now = `${box.value.slice(0, at)}${word}${box.value.slice(box.selectionEnd)}`;
    box.value = now;
    box.focus();
    box.setSelectionRange(at + word.length, at + word.length);
    setDraft(now);
  };
  const run = () => {
    none();
    change({ sql: draft.trim(), limit: undefined, of: undefined });
  };
  const onKey = (e: KeyboardEvent) => {
    const { list, at } = offer;
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run();
    else if (e.key === " " && e.ctrlKey) void look();
    else if (list.length && (e.key === "ArrowDown" || e.key === "ArrowUp"))
      setOffer({ ...offer, at: (at + (e.key === "ArrowDown" ? 1 : list.length - 1)) % list.length });
    else if (list.length && (e.key === "Tab" || e.key === "Enter")) take(list[at]);
    else if (list.length && e.key === "Escape") none();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const keep = () => {
    const name = prompt("Save this statement as", draft.slice(0, 40))?.trim();
    if (!name) return;
    const list = [...saved.filter((s) => s.name !== name), { name, text: draft }].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    setSaved(list);
    store(list);
  };
  const own = saved.find((s) => s.text === draft);
  return (
    <Panel>
      <p class="dim">
        Tables are <code>objects</code>, <code>classes</code>, <code>collections</code>, every query (
        <code>big_drops</code>) and every class by its name in quotes (<code>"java.lang.String"</code>).{" "}
        <span class="keys">Ctrl+Enter runs, Ctrl+Space completes.</span>
      </p>
      <div class="tools">
        <label>
          Statements{" "}
          <select
            value=""
            onChange={(e) => {
              const chosen = [...saved, ...shipped][Number((e.target as HTMLSelectElement).value)];
              if (chosen) {
                setDraft(chosen.text);
                change({ sql: chosen.text, limit: undefined, of: undefined });
              }
              (e.target as HTMLSelectElement).value = "";
            }}
          >
            <option value="">choose …</option>
            {saved.length > 0 && (
              <optgroup label="Saved in this browser">
                {saved.map((s, i) => (
                  <option value={String(i)}>{s.name}</option>
                ))}
              </optgroup>
            )}
            <optgroup label="Examples">
              {shipped.map((s, i) => (
                <option value={String(saved.length + i)}>{s.name}</option>
              ))}
            </optgroup>
          </select>
        </label>
        <Choice
          label="Tables show"
          value={route.params.objects ?? "reachable"}
          choices={[
            ["reachable", "reachable objects"],
            ["all", "all objects"],
          ]}
          onChange={(objects) => change({ objects: objects === "all" ? objects : undefined })}
        />
        <Choice
          label="Show as"
          value={route.params.as ?? "table"}
          choices={[["table"], ["bars", "bar chart"], ["treemap"]]}
          onChange={(as) => change({ as: as === "table" ? undefined : as }, true)}
        />
      </div>
      <div class="editor">
        <textarea
          ref={area}
          class="sql"
          rows={Math.max(4, Math.min(14, draft.split("\n").length + 1))}
          spellcheck={false}
          autocomplete="off"
          value={draft}
          placeholder="SELECT …"
          aria-label="Statement"
          aria-autocomplete="list"
          aria-controls="offer"
          onInput={typed}
          onKeyDown={onKey}
          onBlur={() =>
            setTimeout(() => {
              if (document.activeElement !== area.current) none();
            }, 200)
          }
        />
        <ul id="offer" class="offer" role="listbox" hidden={!offer.list.length}>
          {offer.list.map((word, i) => (
            <li
              role="option"
              aria-selected={i === offer.at}
              class={i === offer.at ? "on" : ""}
              onMouseDown={(e) => {
                e.preventDefault();
                take(word);
              }}
            >
              {visible(word)}
            </li>
          ))}
        </ul>
      </div>
      <p class="tools">
        <button class="go" onClick={run}>
          Run
        </button>
        <button onClick={keep}>Save …</button>
        {own && (
          <button
            onClick={() => {
              const list = saved.filter((s) => s !== own);
              setSaved(list);
              store(list);
            }}
          >
            Delete “{own.name}”
          </button>
        )}
      </p>
      <div class="console">
        <Schema key={String(sql === "")} db={db} isOpen={!sql && innerWidth > NARROW} onTake={insert} />
        {sql ? <Result key={`${db}/${sql}`} statement={sql} route={route} /> : <Questions saved={saved} />}
      </div>
    </Panel>
  );
}
