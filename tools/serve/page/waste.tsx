// The sum of all waste: possible savings by kind, with the largest owners.
import { useEffect, useState } from "preact/hooks";
import { Answer, ask, hasSql, Params, Question, Row } from "./api";
import { numberOf, useInfo } from "./overview";
import { useAnswer } from "./asking";
import { ClassName, Name } from "./objects";
import { Meter, Panel, specs } from "./parts";
import { linkTo } from "./route";
import { bytes, number, percent, visible } from "./text";

interface Owner {
  name: string;
  saved?: number;
  text?: boolean; // the name is a string from the heap, not a class
  to?: string; // URL of the list of objects
}
interface Kind {
  name: string;
  help: string;
  saved: number;
  objects: number;
  owners: Owner[];
  to: string;
  group: string;
  isPending?: boolean; // whether there is no answer yet
  isLeast?: boolean; // whether only the largest objects are counted
}

const OWNERS = 3;
const isPlain = (name: unknown) => /^(byte|char|short|int|long|float|double|boolean)\[\]$/.test(String(name));
const least = (k: Kind) => (k.isLeast ? "at least " : "");
const total = (rows: Row[], name: string) => rows.reduce((s, r) => s + Number(r[name] ?? 0), 0);
const largest = (rows: Row[], name: string, saved: string): Owner[] =>
  rows
    .filter((r) => Number(r[saved]) > 0)
    .sort((a, b) => Number(b[saved]) - Number(a[saved]))
    .slice(0, OWNERS)
    .map((r) => ({ name: String(r[name]), saved: Number(r[saved]) }));
const held = (rows: Row[]): Owner[] => {
  const sums = new Map<string, number>();
  for (const r of rows) if (r.holder) sums.set(String(r.holder), (sums.get(String(r.holder)) ?? 0) + Number(r.wasted));
  return [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, OWNERS)
    .map(([name, saved]) => ({ name, saved, to: linkTo("waste", { q: "duplicates", o_arrays: "1", filter: name }) }));
};

const BOXES = ["Integer", "Long", "Short", "Byte", "Character", "Double", "Float", "Boolean"];
// Unused capacity of string builders and byte streams.
const BUILDERS = ["java.lang.StringBuilder", "java.lang.StringBuffer", "java.io.ByteArrayOutputStream"];
const free = (name: string) => {
  const isStream = name.endsWith("Stream"),
    // bytes per character
    wide = isStream ? "1" : "CASE WHEN a.length > 32 AND a.shallow > 1.9 * a.length THEN 2 ELSE 1 END";
  return (
    `SELECT count(*) AS objects, sum(max(0, a.length - b.count) * ${wide}) AS saved FROM "${name}" b JOIN ` +
    `arrays a ON a.id = b.${isStream ? "buf" : "value"}`
  );
};

// Queries in this order, quick ones first. The holders of 100,000 contents take half a minute on a large heap, and the
// answer is too large to be stored.
const questions: [string, Params][] = [
  ["arrays", { limit: "10000" }],
  ...BOXES.map((name): [string, Params] => ["group-by-value", { target: `java.lang.${name}`, limit: "1000" }]),
  ["collections", { limit: "10000" }],
  ["collections", { by: "size", limit: "1000" }],
  ["duplicates", { arrays: "1", limit: "1000" }],
  ["duplicates", { limit: "1000" }],
];
const TEXTS = questions.length - 1;

// An answer; null if the query failed, undefined while it is running.
type Result = Answer | null | undefined;

function kindsOf(answers: Result[], builders: Result[]): Kind[] {
  const boxes = answers.slice(1, BOXES.length + 1),
    [collections, sizes, copies, texts] = answers.slice(BOXES.length + 1),
    arrays = answers[0];
  const none = sizes?.rows.find((r) => r.size === 0),
    plain = (arrays?.rows ?? []).filter((r) => isPlain(r.class));
  // Arrays of strings are already counted with the strings.
  const own = (copies?.rows ?? []).filter((r) => r.holder !== "java.lang.String.value");
  const boxed = BOXES.map((name, i) => {
    const f = boxes[i]?.facts,
      objects = Number(f?.objects ?? 0),
      values = Number(f?.values ?? 0);
    return {
      name: `java.lang.${name}`,
      objects: objects - values,
      saved: objects ? Math.round((Number(f!.shallow) * (objects - values)) / objects) : 0,
    };
  });
  const built = builders.map((a, i) => ({
    name: BUILDERS[i],
    objects: Number(a?.rows[0]?.objects ?? 0),
    saved: Number(a?.rows[0]?.saved ?? 0),
  }));
  const kinds: Kind[] = [
    {
      name: "Duplicate strings",
      help: "All copies of a string except one, including their arrays.",
      saved: Number(texts?.facts.wasted ?? 0),
      objects: Number(texts?.facts.copies ?? 0),
      to: linkTo("waste", { q: "duplicates" }),
      group: "strings",
      owners: (texts?.rows ?? []).slice(0, OWNERS).map((r) => ({
        name: `“${String(r.text).slice(0, 40)}” ${number(Number(r.objects))} times`,
        saved: Number(r.wasted),
        text: true,
        to:
          r.text && Number(r.length ?? 0) < 500
            ? linkTo("strings", { o_equals: String(r.text), o_objects: "1" })
            : undefined,
      })),
    },
    {
      name: "Unused slots in collections",
      help: "Unused slots of tables and arrays, in collections that are not empty.",
      saved: Number(collections?.facts.wasted ?? 0) - Number(none?.wasted ?? 0),
      objects: Number(collections?.facts.objects ?? 0) - Number(none?.objects ?? 0),
      to: linkTo("waste", { q: "collections" }),
      group: "collections",
      owners: largest(collections?.rows ?? [], "class", "wasted"),
    },
    {
      name: "Empty collections",
      help: "Collections without elements, including their tables.",
      saved: Number(none?.shallow ?? 0),
      objects: Number(none?.objects ?? 0),
      to: linkTo("waste", { q: "collections", sort: "empty" }),
      group: "empty",
      owners: (collections?.rows ?? [])
        .slice()
        .sort((a, b) => Number(b.empty) - Number(a.empty))
        .slice(0, OWNERS)
        .filter((r) => Number(r.empty) > 0)
        .map((r) => ({ name: String(r.class) })),
    },
    {
      name: "Duplicate boxed numbers",
      help: "Integer, Long and similar objects with the same value as another object of the class.",
      saved: total(boxed, "saved"),
      objects: total(boxed, "objects"),
      to: linkTo("all", { q: "group-by-value", target: "java.lang.Integer" }),
      group: "boxes",
      owners: largest(boxed, "name", "saved"),
    },
    {
      name: "Arrays of zeros",
      help: "Primitive arrays that contain only zeros.",
      saved: total(plain, "zero_shallow"),
      objects: total(plain, "zero"),
      to: linkTo("waste", { q: "arrays", o_zero: "1" }),
      group: "arrays",
      owners: largest(plain, "class", "zero_shallow"),
    },
    {
      name: "Arrays that end in zeros",
      help: "Primitive arrays that end in 64 or more bytes of zeros.",
      saved: total(plain, "trailing_wasted"),
      objects: total(plain, "trailing_zeros"),
      to: linkTo("waste", { q: "arrays", "o_trailing-zeros": "1" }),
      group: "arrays",
      owners: largest(plain, "class", "trailing_wasted"),
    },
    {
      name: "Duplicate arrays",
      help: "All copies of a primitive array except one, without the arrays of strings.",
      saved: total(own, "wasted"),
      objects: own.reduce((s, r) => s + Number(r.objects) - 1, 0),
      to: linkTo("waste", { q: "duplicates", o_arrays: "1" }),
      group: "copies",
      owners: held(own),
      isLeast: (copies?.total_rows ?? 0) > (copies?.row_count ?? 0),
    },
    {
      name: "Unused space in builders and streams",
      help: "Allocated but unused space of StringBuilder, StringBuffer and ByteArrayOutputStream.",
      saved: total(built, "saved"),
      objects: total(built, "objects"),
      to: linkTo("class", { target: BUILDERS[0] }),
      group: "builders",
      owners: largest(built, "name", "saved"),
    },
  ];
  const waits: Record<string, Result[]> = {
    strings: [texts],
    collections: [collections, sizes],
    empty: [collections, sizes],
    boxes,
    arrays: [arrays],
    copies: [copies],
    builders,
  };
  return kinds
    .map((k) => ({ ...k, isPending: waits[k.group].includes(undefined) }))
    .sort((a, b) => Number(a.isPending) - Number(b.isPending) || b.saved - a.saved);
}

// Adds up the kinds without counting bytes twice. An array can be all zeros, a duplicate and a builder's at once, so
// only the largest of these three groups counts. Arrays of strings that contain zeros count with the arrays of zeros.
function sumOf(kinds: Kind[], texts: Result): number {
  const both = (texts?.rows ?? []).filter((r) => String(r.text).includes("\0"));
  const sums = new Map<string, number>();
  for (const k of kinds) sums.set(k.group, (sums.get(k.group) ?? 0) + k.saved);
  const of = (group: string) => sums.get(group) ?? 0;
  return (
    of("strings") -
    (of("arrays") > 0 ? total(both, "wasted") : 0) +
    of("collections") +
    of("empty") +
    of("boxes") +
    Math.max(of("arrays"), of("copies"), of("builders"))
  );
}

const SLOW = 400, // milliseconds before partial results are shown
  TOGETHER = 2; // number of queries that run at the same time, so that the first results appear early

// Runs all queries. Results are shown together if they arrive quickly, so that the table does not jump; otherwise as
// they arrive.
function useAll(list: [string, Params][], key: string): { answers: Result[]; there: number; isSlow: boolean } {
  const none = { key, answers: [] as Result[], there: 0, isSlow: false },
    [state, set] = useState(none);
  useEffect(() => {
    let live = true;
    const answers: Result[] = list.map(() => undefined),
      running: Question[] = [];
    const notify = (part: { isSlow?: boolean }) => {
      const there = answers.filter((a) => a !== undefined).length;
      if (live) set((old) => ({ ...(old.key === key ? old : none), answers: answers.slice(), there, ...part }));
    };
    const timer = setTimeout(() => notify({ isSlow: true }), SLOW);
    const start = () => {
      const i = running.length;
      if (!live || i === list.length) return;
      const known = (a: Answer | null) => {
        answers[i] = a;
        notify({});
        start();
      };
      running.push(ask(...list[i]));
      running[i].answer.then(known, () => known(null));
    };
    for (let i = 0; i < TOGETHER; i++) start();
    return () => {
      live = false;
      clearTimeout(timer);
      running.forEach((q, i) => answers[i] === undefined && q.cancel());
    };
  }, [key]);
  return state.key === key ? state : none;
}

export function WasteSum({ db }: { db?: string }) {
  // SQL has tables only for classes that the program has loaded.
  const known = useAnswer(hasSql() ? "sql" : "", {
    db,
    limit: "10",
    q: `SELECT DISTINCT name FROM classes WHERE name IN (${BUILDERS.map((name) => `'${name}'`).join(", ")})`,
  });
  const isReady = !hasSql() || known.answer !== undefined || known.error !== undefined,
    loaded = BUILDERS.filter((name) => known.answer?.rows.some((r) => r.name === name));
  const list = [
    ...questions.filter(([query]) => specs.has(query)),
    ...loaded.map((name): [string, Params] => ["sql", { q: free(name), limit: "1" }]),
  ];
  const [isCancelled, setCancelled] = useState(false),
    isRunning = isReady && !isCancelled;
  const { answers, there, isSlow } = useAll(
    isRunning ? list.map(([query, params]) => [query, { ...params, db }]) : [],
    `${db ?? ""} ${isRunning} ${loaded}`,
  );
  const { info } = useInfo(db),
    heap = info ? (numberOf(info("objects", "reachable bytes")) ?? 0) : 0;
  if (isCancelled)
    return (
      <Panel>
        <p class="error" role="alert">
          Cancelled. <button onClick={() => setCancelled(false)}>Try again</button>
        </p>
      </Panel>
    );
  const isAll = isReady && there === list.length;
  const wait = isAll ? null : (
    <p class="wait" role="status">
      Waiting: {number(there)} of {number(list.length)} queries are done.{" "}
      <button onClick={() => setCancelled(true)}>Cancel</button>
    </p>
  );
  if (!isAll && !(isReady && isSlow && there > 0)) return <Panel>{wait}</Panel>;
  const kinds = kindsOf(
      answers.slice(0, questions.length),
      BUILDERS.map((name) => (loaded.includes(name) ? answers[questions.length + loaded.indexOf(name)] : null)),
    ),
    sum = sumOf(kinds, answers[TEXTS]),
    most = Math.max(1, ...kinds.map((k) => k.saved));
  const share = (n: number) => (heap ? percent((100 * n) / heap) : "");
  return (
    <Panel>
      <p class="sum">
        {isAll && kinds.some((k) => k.isLeast) ? "At least " : ""}
        <b>{bytes(sum)}</b>
        {heap ? `, ${share(sum)} of the heap,` : ""} could be saved {isAll ? "in total" : "so far"}.
      </p>
      {wait}
      <p class="dim">
        No bytes are counted twice. The array of a string counts with the string, or with the arrays of zeros if it
        contains zeros. The table of a collection counts with the collection. An array can contain only zeros, be a
        duplicate and belong to a builder at the same time, so the total includes only the largest of these three kinds.
      </p>
      <div class="scroll">
        <table class="kinds">
          <thead>
            <tr>
              <th>kind</th>
              <th class="n">
                could be saved
                <span class="meter" />
              </th>
              <th class="n pc">% of the heap</th>
              <th class="n wide">objects</th>
              <th>largest owners</th>
            </tr>
          </thead>
          <tbody>
            {kinds.map((k) => (
              <tr>
                <th scope="row" title={k.help}>
                  <a href={k.to}>{k.name}</a>
                </th>
                <td class="n">
                  {k.isPending ? "…" : least(k) + bytes(k.saved)}
                  <Meter part={(100 * k.saved) / most} />
                </td>
                <td class="n pc">{k.isPending ? "…" : share(k.saved)}</td>
                <td class="n wide">{k.isPending ? "…" : least(k) + number(k.objects)}</td>
                <td class="owners">
                  {k.owners.map((o, i) => (
                    <>
                      {i > 0 && " "}
                      <span>
                        {o.to ? (
                          <a href={o.to}>{o.text ? visible(o.name) : <Name text={o.name} wrap />}</a>
                        ) : /^[\w.$]+(\[\])*$/.test(o.name) && !/\.[a-z]\w*$/.test(o.name) ? (
                          <ClassName name={o.name} wrap />
                        ) : (
                          <Name text={o.name} wrap />
                        )}
                        {o.saved ? <small> {bytes(o.saved)}</small> : null}
                        {i + 1 < k.owners.length && ","}
                      </span>
                    </>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
