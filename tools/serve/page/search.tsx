// The search box in the header: object IDs, classes, threads, strings, views, queries, saved SQL. Every offer has been
// looked up before it is listed, so Enter never leads to an empty view.
import { useEffect, useRef, useState } from "preact/hooks";
import { viewOf } from "./actions";
import { ask, hasSql, Params, Question, Row, Spec } from "./api";
import { nearest } from "./asking";
import { load, rest } from "./rest";
import { classPage, Name } from "./objects";
import { specs } from "./parts";
import { change, linkTo } from "./route";
import { counted, number, visible } from "./text";

interface Offer {
  kind: string;
  text: string;
  more?: string;
  go(): void;
}

const to = (address: string) => () => {
  location.hash = address;
};
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

type View = { name: string; title: string; line: string; words?: string };

// Other names for queries.
const synonyms: [words: string, title: string, query: string][] = [
  ["jfr flight recorder recordings", "recordings: where objects were allocated", "object-sites"],
];

const OFFERED = 8, // maximum number of listed classes
  CLASSES = 400; // maximum number of classes loaded to choose from
const FEW = 4; // maximum number of listed queries and statements

// SQL for the serial numbers of threads that have a word in a frame or a local.
export function threadsWithWord(word: string): string {
  const like = `LIKE '%${word.replace(/[\\%_]/g, "\\$&").replace(/'/g, "''")}%' ESCAPE '\\'`;
  return (
    `SELECT thread AS serial FROM frames WHERE frame ${like} UNION SELECT thread FROM locals WHERE class ` +
    `${like} OR text(id) ${like}`
  );
}

// The query for classes whose name contains a word, ignoring case: exact names first, then by number of objects.
function classQuestion(word: string, db?: string): [string, Params] {
  const low = word.toLowerCase(),
    pattern = /[*?]/.test(word);
  const like = pattern
    ? `GLOB '${low.replace(/'/g, "''")}'`
    : `LIKE '%${low.replace(/[\\%_]/g, "\\$&").replace(/'/g, "''")}%' ESCAPE '\\'`;
  return hasSql()
    ? [
        "sql",
        {
          db,
          limit: String(CLASSES),
          q:
            `SELECT name, max(id) AS id, sum(objects) AS objects FROM classes WHERE lower(name) ${like} ` +
            `GROUP BY name ORDER BY length(name) - length('${low.replace(/'/g, "''")}') > 0 AND name NOT ` +
            `LIKE '%.${low.replace(/'/g, "''")}', objects DESC`,
        },
      ]
    : ["histogram", { db, shallow: "1", limit: "50000" }];
}

const hasName = (name: string, low: string): boolean =>
  name === low || name.endsWith(`.${low}`) || name.endsWith(`$${low}`);

function classesOf(rows: Row[], word: string): Row[] {
  const low = word.toLowerCase(),
    isExact = (r: Row) => hasName(String(r.name).toLowerCase(), low);
  const fit = hasSql() ? rows : rows.filter((r) => String(r.name).toLowerCase().includes(low.replace(/[*?]/g, "")));
  return [...fit.filter(isExact), ...fit.filter((r) => !isExact(r))];
}

// Object IDs that a text may mean: 0x12c4, 12c4, "java.lang.String @ 0x12c4", String@12c4, 4804 (decimal).
export function idsOf(text: string): string[] {
  const found = /^(?:.*@\s*)?(?:0x)?([0-9a-f]{1,16})$/i.exec(text);
  if (!found) return [];
  const hex = `0x${found[1].toLowerCase().replace(/^0+(?=.)/, "")}`,
    sure = /0x|@/i.test(text);
  if (!sure && !/\d/.test(text)) return []; // a word such as "cafe"
  return !sure && /^\d+$/.test(text) ? [hex, `0x${BigInt(text).toString(16)}`] : [hex];
}

// Search results for a word. Undefined: not known yet.
interface Found {
  word: string;
  classes?: Row[];
  objects?: Row[];
  threads?: number;
  texts?: number;
  near?: string[];
}

// Runs all searches for a word and reports each result as it arrives. Returns a function that cancels them.
function look(word: string, db: string | undefined, set: (part: Partial<Found>) => void): () => void {
  const running: Question[] = [];
  const one = <T,>(
    query: string,
    params: Params,
    of: (rows: Row[], total: number | null, facts: Row) => T,
    none: T,
  ): Promise<T> => {
    const question = ask(query, { db, ...params });
    running.push(question);
    return question.answer.then(
      (a) => of(a.rows, a.total_rows, a.facts),
      () => none,
    );
  };
  const [query, params] = classQuestion(word, db);
  void one(query, params, (rows) => classesOf(rows, word), []).then((classes) => {
    set({ classes });
    if (classes.length === 0)
      nearest(word, db).then(
        (near) => set({ near }),
        () => set({ near: [] }),
      );
  });
  void Promise.all(
    idsOf(word).map((id) => one("object", { target: id, limit: "1" }, (_, __, facts): Row | null => facts, null)),
  ).then((all) => set({ objects: all.filter((r): r is Row => r !== null) }));
  const timer = setTimeout(() => {
    void one("strings", { match: `(?i)${escaped(word)}`, limit: "1" }, (rows, total) => total ?? rows.length, 0).then(
      (texts) => set({ texts }),
    );
    const like = `LIKE '%${word.replace(/[\\%_]/g, "\\$&").replace(/'/g, "''")}%' ESCAPE '\\'`,
      q = `SELECT count(*) AS n FROM (SELECT serial FROM threads WHERE name ${like} UNION ${threadsWithWord(word)})`;
    void (hasSql() ? one("sql", { q, limit: "1" }, (rows) => Number(rows[0]?.n ?? 0), 0) : Promise.resolve(1)).then(
      (threads) => set({ threads }),
    );
  }, 250);
  return () => {
    clearTimeout(timer);
    for (const q of running) q.cancel();
  };
}

// Views, queries and statements that match a word; these need no request. `strong`: the name begins with the word.
function matchesByName(word: string, views: View[]): { strong: Offer[]; weak: Offer[] } {
  const low = word.toLowerCase(),
    dashed = low.replace(/[ _]/g, "-");
  const view = (v: View): Offer => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) }),
    query = (s: Spec): Offer => ({ kind: "query", text: s.name, more: s.group, go: to(viewOf(s.name)[1]) });
  const all = [...specs.values()],
    same = views.filter((v) => v.title.toLowerCase() === low),
    anyBegins = (words: string) => low.length > 2 && words.split(" ").some((w) => w.startsWith(low)),
    begins = views.filter(
      (v) => !same.includes(v) && (v.title.toLowerCase().startsWith(low) || anyBegins(v.words ?? "")),
    );
  const exact = all.filter((s) => s.name === dashed),
    prefixed = all.filter((s) => s.name !== dashed && s.name.startsWith(dashed)).slice(0, FEW),
    inside = all.filter((s) => s.name.indexOf(dashed) > 0).slice(0, FEW);
  const others = synonyms.filter(([words]) => anyBegins(words));
  const statements =
    hasSql() && rest?.extra
      ? [...rest.extra.stored(), ...rest.extra.shipped].filter((s) => s.name.toLowerCase().includes(low))
      : [];
  return {
    strong: [
      ...same.map(view),
      ...exact.map(query),
      ...begins.map(view),
      ...others.map(([, title, q]): Offer => ({ kind: "query", text: title, go: to(viewOf(q)[1]) })),
      ...prefixed.map(query),
    ],
    weak: [
      ...inside.map(query),
      ...statements
        .slice(0, FEW)
        .map((s): Offer => ({ kind: "SQL", text: s.name, go: to(linkTo("sql", { sql: s.text })) })),
    ],
  };
}

const objectOffer = (r: Row): Offer => ({
  kind: "object",
  text: String(r.id),
  more: String(r.class),
  go: () => change({ obj: String(r.id), tab: undefined }),
});

const classOffer = (r: Row): Offer => ({
  kind: "class",
  text: String(r.name),
  more: counted(Number(r.objects), "object"),
  go: to(classPage(String(r.name))),
});

// Offers classes with this exact name, then a link to all classes that contain the word, then some of these classes.
function classOffers(classes: Row[], word: string): Offer[] {
  const low = word.toLowerCase(),
    isPattern = /[*?]/.test(word),
    pattern = isPattern ? word : `*${word}*`;
  // Patterns are case-sensitive and filters are not, so use a filter if the case differs.
  const asIs = isPattern || classes.some((r) => String(r.name).includes(word));
  const isExact = (r: Row) => {
    const name = String(r.name).toLowerCase();
    return name === low || (name.endsWith(`.${low}`) && Number(r.objects) > 0);
  };
  const list: Offer = {
    kind: "list",
    text: asIs ? `classes like ${pattern}` : `classes with “${word}”`,
    more: `${classes.length < CLASSES ? number(classes.length) : "many"} classes`,
    go: to(linkTo("histogram", asIs ? { target: pattern } : { filter: word })),
  };
  const exact = classes.filter(isExact).slice(0, OFFERED),
    others = classes.filter((r) => !isExact(r)).slice(0, OFFERED);
  return [...exact.map(classOffer), ...(classes.length > 1 ? [list] : []), ...others.map(classOffer)];
}

function threadOffers(word: string, threads: number): Offer[] {
  if (!threads) return [];
  const go = to(linkTo("threads", { filter: word })),
    title = `threads, frames and locals with “${word}”`;
  return [{ kind: "threads", text: title, more: counted(threads, "thread"), go }];
}

function textOffers(word: string, texts: number): Offer[] {
  if (!texts) return [];
  const go = to(linkTo("strings", { o_match: `(?i)${escaped(word)}` }));
  return [{ kind: "strings", text: `strings that contain “${word}”`, more: counted(texts, "string"), go }];
}

// Offers for a word. Offers never move: a group is hidden until the results of all groups above it are known.
function offersOf(word: string, views: View[], found: Found): { list: Offer[]; isAll: boolean } {
  const { strong, weak } = matchesByName(word, views),
    { classes, objects, threads, texts } = found;
  if (word.length < 2) return { list: [...strong, ...weak], isAll: true };
  const groups = [
    strong,
    objects?.map(objectOffer),
    classes && classOffers(classes, word),
    weak,
    threads === undefined ? undefined : threadOffers(word, threads),
    texts === undefined ? undefined : textOffers(word, texts),
    classes?.length ? [] : found.near?.map((n): Offer => ({ kind: "similar", text: n, go: to(classPage(n)) })),
  ];
  const late = groups.findIndex((g) => g === undefined);
  const known = (late < 0 ? groups : groups.slice(0, late)) as Offer[][];
  return { list: known.flat(), isAll: late < 0 };
}

// Search results as they arrive. `isReady`: the descriptions of queries are loaded, which the offers need.
function useFound(word: string, db?: string): { found: Found; isReady: boolean } {
  const key = `${db} ${word}`,
    [found, setFound] = useState<Found>({ word: "" }),
    [isReady, setReady] = useState(rest !== undefined);
  useEffect(() => {
    if (!word || isReady) return;
    const ready = () => setReady(true);
    void load().then(ready, ready);
  }, [!word]);
  useEffect(() => {
    setFound({ word: key });
    if (word.length < 2) return;
    let live = true,
      stop = () => {};
    const timer = setTimeout(() => {
      stop = look(word, db, (part) => {
        if (live) setFound((old) => (old.word === key ? { ...old, ...part } : old));
      });
    }, 120);
    return () => {
      live = false;
      clearTimeout(timer);
      stop();
    };
  }, [key]);
  return { found: found.word === key ? found : { word: key }, isReady };
}

export function Search({ views, db }: { views: View[]; db?: string }) {
  const [text, setText] = useState(""),
    [open, setOpen] = useState(false),
    [chosen, setChosen] = useState({ key: "", at: 0 });
  const box = useRef<HTMLInputElement>(null),
    submitted = useRef(""); // the word for which Enter was pressed before any offer was known
  const word = text.trim(),
    { found, isReady } = useFound(word, db);
  const at = chosen.key === word ? chosen.at : 0,
    setAt = (at: number) => setChosen({ key: word, at });
  const { list, isAll } = !word
    ? { list: views.map((v): Offer => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) })), isAll: true }
    : isReady
      ? offersOf(word, views, found)
      : { list: [], isAll: false };
  const take = (offer?: Offer) => {
    if (!offer) return;
    submitted.current = "";
    setOpen(false);
    setText("");
    box.current?.blur();
    offer.go();
  };
  useEffect(() => {
    if (submitted.current !== box.current!.value.trim()) submitted.current = ""; // the user continued typing
    if (!word || submitted.current !== word) return;
    if (isAll) submitted.current = "";
    take(list[0]);
  }, [word, list.length, isAll]);
  const onKey = (e: KeyboardEvent) => {
    const typed = box.current!.value.trim(); // `word` may not yet contain the last letters typed
    if (e.key === "ArrowDown" || e.key === "ArrowUp")
      setAt((at + (e.key === "ArrowDown" ? 1 : list.length - 1)) % Math.max(1, list.length));
    else if (e.key !== "Enter") return;
    else if (typed === word && list.length) take(word || at ? list[at] : undefined);
    else submitted.current = typed;
    e.preventDefault();
  };
  return (
    <div class="search">
      <input
        ref={box}
        id="search"
        type="search"
        placeholder="Class, object, string, thread, view  ( / )"
        aria-label="Search"
        value={text}
        role="combobox"
        aria-expanded={open}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={open && list.length ? `found-${at}` : undefined}
        autocomplete="off"
        onFocus={() => {
          setOpen(true);
          box.current?.select();
        }}
        onBlur={() => setTimeout(() => setOpen(document.activeElement === box.current), 150)}
        onInput={(e) => {
          setText((e.target as HTMLInputElement).value);
          setOpen(true);
        }}
        onKeyDown={onKey}
      />
      <div class="offer" hidden={!open}>
        <ul id="found" role="listbox" aria-label="Search results">
          {list.map((o, i) => (
            <li
              id={`found-${i}`}
              role="option"
              aria-selected={i === at}
              class={i === at ? "on" : ""}
              onMouseDown={(e) => {
                e.preventDefault();
                take(o);
              }}
            >
              <small class="kind">{o.kind}</small>
              {["class", "similar"].includes(o.kind) ? (
                <Name text={o.text} />
              ) : (
                <span class="name">
                  <span class="tail">{visible(o.text)}</span>
                </span>
              )}
              {o.more ? <small class="right">{o.more}</small> : null}
            </li>
          ))}
        </ul>
        {word && !isAll ? (
          <p class="dim" role="status">
            Searching …
          </p>
        ) : word && list.length === 0 ? (
          <p class="dim" role="status">
            No class, object, string, thread, view or query matches “{visible(word)}”.
          </p>
        ) : null}
      </div>
    </div>
  );
}
