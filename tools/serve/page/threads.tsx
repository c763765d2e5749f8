// Threads and their stacks. A stack and its locals are loaded when it is opened, because all of them together may be
// millions of rows.
import { useMemo, useState } from "preact/hooks";
import { Answer, hasSql, report, Row } from "./api";
import { Marks, useAnswer, Wait } from "./asking";
import { Breaking, ClassName, Obj } from "./objects";
import { Meter, Panel } from "./parts";
import { MOST, QueryTable } from "./query";
import { change, Route } from "./route";
import { threadsWithWord } from "./search";
import { bytes, number, percent, visible } from "./text";
import { numberOf, useInfo } from "./overview";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));
const TOGETHER = 100; // maximum number of threads opened by "Open all"
const LINE = 18.75,
  LOCAL = 20.3; // heights of a frame and of a local in app.css, in pixels
// Maximum height reserved for a stack that is loading. Deeper stacks are usually recursions, which are folded.
const MAX_HEIGHT = 2000;
const SHOWN = 200; // number of threads drawn before "Show all"

// Groups frames and locals by thread.
function stacksOf(answer?: Answer): Map<string, Row[]> {
  const stacks = new Map<string, Row[]>();
  let rows: Row[] = [];
  for (const row of answer?.rows ?? []) {
    if (Number(row.level) === 0) stacks.set(keyOf(row), (rows = []));
    else rows.push(row);
  }
  return stacks;
}
const keyOf = (head: Row) => `${head.id} ${head.serial}`;

// ---- stacks ----

const ROUND = 8,
  ROUNDS = 4; // a recursion is folded if one call has at most ROUND frames and there are at least ROUNDS calls

// A part of a stack: plain rows, or a folded recursion, which repeats the preceding `frames` frames `calls` times.
interface Part {
  rows: Row[];
  calls?: number;
  frames?: number;
}

function partsOf(rows: Row[]): Part[] {
  const frames: Row[][] = [],
    parts: Part[] = [];
  for (const r of rows) {
    if (Number(r.level) === 1 || frames.length === 0) frames.push([r]);
    else frames[frames.length - 1].push(r);
  }
  const same = (a: number, b: number) => b < frames.length && frames[a][0].text === frames[b][0].text;
  for (let i = 0; i < frames.length;) {
    let round = 0,
      end = i;
    for (let n = 1; n <= ROUND && !round; n++) {
      for (end = i; same(end, end + n);) end++;
      end -= (end - i) % n;
      if (end - i >= n * (ROUNDS - 1) && end - i >= ROUND) round = n;
    }
    const shown = round || 1;
    parts.push({ rows: frames.slice(i, i + shown).flat() });
    if (round)
      parts.push({ rows: frames.slice(i + round, end + round).flat(), calls: (end - i) / round, frames: round });
    i = round ? end + round : i + 1;
  }
  return parts;
}

const lines = (rows: Row[]) =>
  rows.map((r) =>
    r.level === 1 ? (
      <li class="frame-line" title={text(r.signature)}>
        {r.kind === "frame" ? "at " : ""}
        {r.id ? <Obj id={r.id} text={r.text} /> : <Breaking text={text(r.text)} at={/(?<=[.(])/} />}
      </li>
    ) : (
      <li class="local">
        {text(r.kind)} <Obj id={r.id} text={r.text} wrap />
        {typeof r.retained === "number" && (
          <span class="right">
            {bytes(r.retained)} <small class="pc" />
            <Meter part={0} />
          </span>
        )}
      </li>
    ),
  );

function Folded({ part }: { part: Part }) {
  const [open, setOpen] = useState(false),
    locals = part.rows.filter((r) => Number(r.level) > 1).length;
  if (open) return <>{lines(part.rows)}</>;
  return (
    <li class="gap">
      <button onClick={() => setOpen(true)}>
        {number(part.calls!)} more calls of{" "}
        {part.frames === 1 ? "the same frame" : `these ${number(part.frames!)} frames`}
        {locals ? `, with ${number(locals)} locals` : ""}
      </button>
    </li>
  );
}

function Stack({ rows }: { rows: Row[] }) {
  const parts = useMemo(() => partsOf(rows), [rows]);
  if (rows.length === 0) return <p class="empty">The dump has no frames of this thread.</p>;
  return <ol class="stack">{parts.map((p) => (p.calls ? <Folded part={p} /> : lines(p.rows)))}</ol>;
}

function LoadedStack({ db, head, all }: { db?: string; head: Row; all?: string }) {
  const reply = useAnswer("threads", { db, target: String(head.id ?? head.thread), all, limit: String(MOST) });
  if (reply.answer)
    return (
      <>
        <Marks facts={{ ...reply.answer.facts, deadlock: null }} />
        <Stack rows={stacksOf(reply.answer).get(keyOf(head)) ?? []} />
      </>
    );
  return (
    <div
      style={{
        minHeight: `${Math.min(MAX_HEIGHT, 8 + LINE * Number(head.depth ?? 0) + LOCAL * Number(head.locals ?? 0))}px`,
      }}
    >
      <Wait reply={reply} what="the stack" />
    </div>
  ); // reserves the height of the stack so that the layout does not jump
}

function One({
  head,
  open,
  whole,
  onToggle,
  children,
}: {
  head: Row;
  open: boolean;
  whole: number;
  onToggle(): void;
  children: preact.ComponentChildren;
}) {
  const share = whole && typeof head.retained === "number" ? (100 * head.retained) / whole : null;
  const what = [
    head.state,
    head.daemon === true && "daemon",
    head.virtual === true && "virtual",
    typeof head.depth === "number" && `${number(head.depth)} frames`,
    typeof head.locals === "number" && head.locals > 0 && `${number(head.locals)} locals`,
  ]
    .filter(Boolean)
    .map((w) => text(w))
    .join(" · ");
  return (
    <li class="thread">
      <div class="row">
        <button class="twist" aria-label={`stack of ${text(head.thread)}`} aria-expanded={open} onClick={onToggle}>
          {open ? "▾" : "▸"}
        </button>
        <span class="grow">
          <Obj id={head.id} text={text(head.thread) || head.class} /> <small>{what}</small> <Waits threads={[head]} />
        </span>
        <span class="right">
          {typeof head.retained === "number" ? bytes(head.retained) : "–"}{" "}
          {share !== null && <small class="pc">{percent(share)}</small>}
          {share !== null && <Meter part={share} />}
        </span>
      </div>
      {open && children}
    </li>
  );
}

// The lock for which threads wait, and its owner. Threads may wait for different locks of one class.
function Waits({ threads }: { threads: Row[] }) {
  const { waits_for, waits_for_class, lock_owner, lock_owner_id } = threads[0],
    isOne = threads.every((t) => t.waits_for === waits_for);
  if (!waits_for && !lock_owner) return null;
  return (
    <small class="waits">
      {threads.length > 1 ? "wait for" : "waits for"}{" "}
      {!waits_for ? (
        "a monitor"
      ) : isOne ? (
        <Obj id={waits_for} text={waits_for_class} wrap />
      ) : (
        <ClassName name={text(waits_for_class)} wrap />
      )}
      {lock_owner && (
        <>
          , held by <Obj id={lock_owner_id} text={lock_owner} wrap />
        </>
      )}
    </small>
  );
}

// Threads whose stack is equal to another thread's, with the first thread that has this stack.
const SAME_STACK =
  "SELECT thread, first FROM (SELECT thread, min(thread) OVER w AS first, count(*) OVER w AS n FROM " +
  "(SELECT thread, group_concat(frame, char(10)) AS stack FROM frames GROUP BY thread) WINDOW w AS " +
  "(PARTITION BY stack)) WHERE n > 1";

interface ThreadGroup {
  key: string;
  threads: Row[];
  retained: number;
}

// Conditions have no owner, so threads that wait for different ones may be in one group.
const lockOf = (t: Row) =>
  `${t.state} ${String(t.waits_for_class).includes("$ConditionObject") ? "" : t.waits_for_class} ${t.lock_owner_id}`;

// Groups threads with equal stacks that wait for locks of the same class and owner, so that a pool with hundreds of
// idle threads takes one line.
function groupsOf(threads: Row[], sameStack?: Answer): ThreadGroup[] {
  const firsts = new Map((sameStack?.rows ?? []).map((r) => [r.thread, r.first])),
    groups = new Map<string, ThreadGroup>();
  for (const t of threads) {
    const first = t.serial === null ? undefined : firsts.get(t.serial),
      key = first === undefined ? keyOf(t) : `${first} ${lockOf(t)}`;
    const group = groups.get(key) ?? { key: `same ${keyOf(t)}`, threads: [], retained: 0 };
    group.threads.push(t);
    group.retained += Number(t.retained ?? 0);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.retained - a.retained);
}

const MEMBERS = 50;

function GroupRow({
  group,
  open,
  whole,
  onToggle,
  one,
}: {
  group: ThreadGroup;
  open: boolean;
  whole: number;
  onToggle(): void;
  one(t: Row, i: number): preact.JSX.Element;
}) {
  const [room, setRoom] = useState(MEMBERS),
    share = whole ? (100 * group.retained) / whole : 0,
    // A thread without a name is listed under its class name, once per class.
    names = [...new Set(group.threads.slice(0, 3).map((t) => text(t.thread) || text(t.class)))];
  return (
    <li class="thread same-stack">
      <div class="row">
        <button
          class="twist"
          aria-label={`threads with the stack of ${names[0]}`}
          aria-expanded={open}
          onClick={onToggle}
        >
          {open ? "▾" : "▸"}
        </button>
        <span class="grow">
          <b>{number(group.threads.length)} threads with the same stack</b> <Waits threads={group.threads} />{" "}
          <small>
            {names.join(", ")}
            {names.length > 1 && group.threads.length > names.length ? ", …" : ""}
          </small>
        </span>
        <span class="right">
          {bytes(group.retained)} <small class="pc">{percent(share)}</small>
          <Meter part={share} />
        </span>
      </div>
      {open && (
        <>
          <ul class="threads">{group.threads.slice(0, room).map(one)}</ul>
          {group.threads.length > room && (
            <button class="more" onClick={() => setRoom(room * 10)}>
              Show {number(Math.min(group.threads.length - room, room * 9))} more
            </button>
          )}
        </>
      )}
    </li>
  );
}

export function Threads({ route }: { route: Route }) {
  const p = route.params,
    find = (p.filter ?? "").toLowerCase(),
    allObjects = p.o_all === "1" ? "1" : undefined,
    deep = hasSql() && find.length > 1;
  const reply = useAnswer("threads", { db: p.db, "no-stack": "1", limit: String(MOST), all: allObjects });
  const inside = useAnswer(deep ? "sql" : "", { db: p.db, q: threadsWithWord(find), limit: String(MOST) });
  const sameStack = useAnswer(hasSql() && !find && !report ? "sql" : "", {
    db: p.db,
    q: SAME_STACK,
    limit: String(MOST),
  });
  const inlined = useAnswer(report ? "threads" : "", {}),
    stacks = useMemo(() => stacksOf(inlined.answer), [inlined.answer]);
  const [room, setRoom] = useState(SHOWN);
  const { info } = useInfo(p.db),
    whole = info ? (numberOf(info("objects", "reachable bytes")) ?? 0) : 0;
  const all = useMemo(
    () => (reply.answer?.rows ?? []).slice().sort((a, b) => Number(b.retained ?? 0) - Number(a.retained ?? 0)),
    [reply.answer],
  );
  const isWaiting = hasSql() && !find && !report && !sameStack.answer && !sameStack.error;
  if (!reply.answer || isWaiting)
    return (
      <Panel>
        <Wait reply={reply.answer ? sameStack : reply} what="threads" />
      </Panel>
    );
  const serials = new Set(deep && inside.answer ? inside.answer.rows.map((r) => r.serial) : []);
  const shown = find
    ? all.filter((t) => String(t.thread).toLowerCase().includes(find) || (t.serial !== null && serials.has(t.serial)))
    : all;
  const groups = groupsOf(shown, sameStack.answer),
    first = groups.slice(0, report ? groups.length : room),
    total = Math.max(Number(reply.answer.facts.threads ?? 0), all.length);
  const open = new Set((p.open ?? (all[0] ? String(all[0].id) : "")).split(",").filter(Boolean));
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    change({ open: [...next].join(",") || "none" }, true);
  };
  const isOpen = (t: Row, i: number) =>
    report
      ? stacks.has(keyOf(t))
      : (p.open === "all" && i < TOGETHER) || open.has(String(t.id)) || (find !== "" && shown.length < 10);
  const one = (t: Row, i: number) => (
    <One key={keyOf(t)} head={t} whole={whole} open={isOpen(t, i)} onToggle={() => toggle(String(t.id))}>
      {report ? <Stack rows={stacks.get(keyOf(t)) ?? []} /> : <LoadedStack db={p.db} head={t} all={allObjects} />}
    </One>
  );
  return (
    <Panel>
      {p.as !== "table" && <Marks facts={reply.answer.facts} />}
      {all.length < total && (
        <p class="mark">
          <b>Left out:</b> {number(total - all.length)} of {number(total)} threads.
        </p>
      )}
      {report && stacks.size < all.length && (
        <p class="mark">
          <b>Left out:</b> the stacks of {number(all.length - stacks.size)} of {number(all.length)} threads.
        </p>
      )}
      {!report && (
        <div class="tools">
          <input
            type="search"
            placeholder={hasSql() ? "Name, frame or local" : "Name"}
            aria-label="Filter threads"
            value={p.filter ?? ""}
            onInput={(e) => change({ filter: (e.target as HTMLInputElement).value || undefined }, true)}
          />
          <span class="count" role="status">
            {number(shown.length)} of {number(all.length)} threads
          </span>
          <button onClick={() => change({ open: p.open === "all" ? "none" : "all" }, true)}>
            {p.open === "all"
              ? "Close all"
              : shown.length > TOGETHER
                ? `Open the first ${number(TOGETHER)}`
                : "Open all"}
          </button>
          <button onClick={() => change({ as: p.as === "table" ? undefined : "table" })}>
            {p.as === "table" ? "Stacks" : "Table"}
          </button>
          <label title="Thread objects without a thread record: not started, ended, or virtual">
            <input
              type="checkbox"
              checked={p.o_all === "1"}
              onChange={(e) => change({ o_all: (e.target as HTMLInputElement).checked ? "1" : undefined })}
            />{" "}
            include threads that are not running
          </label>
        </div>
      )}
      {deep && !inside.answer && <Wait reply={inside} what="frames and locals" />}
      {p.as === "table" ? (
        <QueryTable query="threads" params={{ db: p.db, "no-stack": "1", all: allObjects }} what="threads" />
      ) : shown.length ? (
        <>
          <ul class="threads">
            {first.map((c, i) =>
              c.threads.length > 1 ? (
                <GroupRow
                  key={c.key}
                  group={c}
                  whole={whole}
                  open={open.has(c.key) || p.open === "all"}
                  onToggle={() => toggle(c.key)}
                  one={(t, j) => one(t, i + j + 1)}
                />
              ) : (
                one(c.threads[0], i)
              ),
            )}
          </ul>
          {first.length < groups.length && (
            <button class="more" onClick={() => setRoom(groups.length)}>
              Show all {number(groups.length)}
            </button>
          )}
        </>
      ) : deep && !inside.answer && !inside.error ? null : (
        <p class="empty">
          {all.length ? `No thread, frame or local has “${p.filter}” in its name.` : "The dump has no threads."}
        </p>
      )}
    </Panel>
  );
}
