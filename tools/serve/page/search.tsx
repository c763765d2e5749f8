// The search at the top: an object by its identifier, classes, threads, texts, views, queries, saved SQL. What is
// offered is there: each kind is looked up, so that Enter leads somewhere, or says that nothing has that name.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, hasSql, Params, Question, Row } from "./api";
import { nearest } from "./asking";
import { classPage, Name } from "./objects";
import { specs } from "./parts";
import { change, linkTo } from "./route";
import { shipped, stored } from "./sql";
import { number, visible } from "./text";
import { holding } from "./threads";

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

const OFFERED = 8,
  CLASSES = 400; // classes that are offered, and looked at for that
const FEW = 4; // views, queries and statements that are offered

// Classes that have a word in their names, in upper or lower case: those that are called so first, then those with
// most objects.
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

const isCalled = (name: string, low: string): boolean =>
  name === low || name.endsWith(`.${low}`) || name.endsWith(`$${low}`);

function classesOf(rows: Row[], word: string): Row[] {
  const low = word.toLowerCase(),
    isIt = (r: Row) => isCalled(String(r.name).toLowerCase(), low);
  const fit = hasSql() ? rows : rows.filter((r) => String(r.name).toLowerCase().includes(low.replace(/[*?]/g, "")));
  return [...fit.filter(isIt), ...fit.filter((r) => !isIt(r))];
}

// Identifiers that a text may be: 0x12c4, 12c4, "java.lang.String @ 0x12c4", String@12c4, 4804 (decimal).
export function idsOf(text: string): string[] {
  const found = /^(?:.*@\s*)?(?:0x)?([0-9a-f]{1,16})$/i.exec(text);
  if (!found) return [];
  const hex = `0x${found[1].toLowerCase().replace(/^0+(?=.)/, "")}`,
    sure = /0x|@/i.test(text);
  if (!sure && !/\d/.test(text)) return []; // a word, as "cafe"
  return !sure && /^\d+$/.test(text) ? [hex, `0x${BigInt(text).toString(16)}`] : [hex];
}

interface Found {
  word: string;
  classes?: Row[];
  objects?: Row[];
  threads?: number;
  isNamed?: boolean;
  texts?: number;
  near?: string[];
}

// What is asked for a word; each answer is there when it is.
function look(word: string, db: string | undefined, set: (part: Partial<Found>) => void): () => void {
  const asked: Question[] = [];
  const one = <T,>(
    query: string,
    params: Params,
    of: (rows: Row[], total: number | null, facts: Row) => T,
    none: T,
  ): Promise<T> => {
    const question = ask(query, { db, ...params });
    asked.push(question);
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
    void (
      hasSql()
        ? one(
            "sql",
            {
              q:
                "SELECT count(DISTINCT serial) AS n, max(named) AS named FROM (SELECT serial, 1 AS named " +
                `FROM threads WHERE name LIKE '%${word.replace(/[\\%_]/g, "\\$&").replace(/'/g, "''")}%' ` +
                `ESCAPE '\\' UNION ALL SELECT serial, 0 FROM (${holding(word)}))`,
              limit: "1",
            },
            (rows): [number, boolean] => [Number(rows[0]?.n ?? 0), Boolean(rows[0]?.named)],
            [0, false] as [number, boolean],
          )
        : Promise.resolve([1, false] as [number, boolean])
    ).then(([threads, isNamed]) => set({ threads, isNamed }));
  }, 250);
  return () => {
    clearTimeout(timer);
    for (const q of asked) q.cancel();
  };
}

export function Search({ views, db }: { views: { name: string; title: string }[]; db?: string }) {
  const [text, setText] = useState(""),
    [open, setOpen] = useState(false),
    [chosen, setChosen] = useState({ key: "", at: 0 });
  const [found, setFound] = useState<Found>({ word: "" }),
    box = useRef<HTMLInputElement>(null);
  const word = text.trim(),
    key = `${db} ${word}`,
    wanted = useRef(""); // a word that Enter was pressed for before it was looked up
  const asks = word.length > 1,
    f: Found = found.word === key ? found : { word: key };
  const at = chosen.key === key ? chosen.at : 0,
    setAt = (at: number) => setChosen({ key, at });
  useEffect(() => {
    if (wanted.current !== word) wanted.current = "";
    setFound({ word: key });
    if (!asks) return;
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

  const low = word.toLowerCase(),
    classes = f.classes ?? [],
    view = (v: { name: string; title: string }): Offer => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) });
  const classOffer = (r: Row): Offer => ({
    kind: "class",
    text: String(r.name),
    more: `${number(Number(r.objects))} objects`,
    go: to(classPage(String(r.name))),
  });
  const exact = classes.filter((r) => {
    const name = String(r.name).toLowerCase();
    return name === low || (name.endsWith(`.${low}`) && Number(r.objects) > 0);
  });
  const pattern = /[*?]/.test(word) ? word : `*${word}*`,
    // A pattern minds upper and lower case, a filter does not.
    asIs = /[*?]/.test(word) || classes.some((r) => String(r.name).includes(word));
  const objects = (f.objects ?? []).map((r): Offer => ({
    kind: "object",
    text: String(r.id),
    more: String(r.class),
    go: () => change({ obj: String(r.id), tab: undefined }),
  }));
  const named = views.filter((v) => v.title.toLowerCase().startsWith(low)),
    queries = [...specs.values()].filter((s) => s.name.includes(low.replace(/ /g, "-"))).slice(0, FEW);
  const statements = hasSql()
    ? [...stored(), ...shipped].filter((s) => s.name.toLowerCase().includes(low)).slice(0, FEW)
    : [];
  const threads: Offer[] = f.threads
    ? [
        {
          kind: "threads",
          text: `threads, frames and locals with “${word}”`,
          more: `${number(f.threads)} threads`,
          go: to(linkTo("threads", { filter: word })),
        },
      ]
    : [];
  const list: Offer[] = !word
    ? views.map(view)
    : [
        ...objects,
        ...exact.slice(0, OFFERED).map(classOffer),
        ...named.filter((v) => v.title.toLowerCase() === low).map(view),
        ...(classes.length > 1 || (classes.length && !exact.length)
          ? [
              {
                kind: "list",
                text: asIs ? `classes like ${pattern}` : `classes with “${word}”`,
                more: `${classes.length < CLASSES ? number(classes.length) : "many"} classes`,
                go: to(linkTo("histogram", asIs ? { target: pattern } : { filter: escaped(word) })),
              },
            ]
          : []),
        ...classes
          .filter((r) => !exact.includes(r))
          .slice(0, OFFERED)
          .map(classOffer),
        ...(f.isNamed ? threads : []),
        ...(f.texts
          ? [
              {
                kind: "strings",
                text: `texts that have “${word}”`,
                more: `${number(f.texts)} texts`,
                go: to(linkTo("strings", { o_match: `(?i)${escaped(word)}` })),
              },
            ]
          : []),
        ...(f.isNamed ? [] : threads),
        ...named.filter((v) => v.title.toLowerCase() !== low).map(view),
        ...queries.map((s): Offer => ({
          kind: "query",
          text: s.name,
          more: s.group,
          go: to(linkTo("all", { q: s.name })),
        })),
        ...statements.map((s): Offer => ({ kind: "SQL", text: s.name, go: to(linkTo("sql", { sql: s.text })) })),
        ...(f.near ?? []).map((n): Offer => ({ kind: "similar", text: n, go: to(classPage(n)) })),
      ];
  const isSure = !asks || (f.classes !== undefined && f.objects !== undefined); // what is first stays first
  const isAll =
    !asks ||
    (isSure && f.threads !== undefined && f.texts !== undefined && (classes.length > 0 || f.near !== undefined));
  const take = (offer?: Offer) => {
    if (!offer) return;
    setOpen(false);
    box.current?.blur();
    offer.go();
  };
  // Before all is known what nothing else is better than: a view, a query or SQL may only be like the word.
  const isBest = isSure && list.length > 0 && (isAll || ["object", "class", "list"].includes(list[0].kind) || !asks);
  useEffect(() => {
    if (word && wanted.current === word && (isBest || isAll)) {
      wanted.current = "";
      take(list[0]);
    }
  }, [isBest, isAll, word]);
  const onKey = (e: KeyboardEvent) => {
    const typed = box.current!.value.trim(); // keys may be quicker than what is drawn
    if (e.key === "ArrowDown" || e.key === "ArrowUp")
      setAt((at + (e.key === "ArrowDown" ? 1 : list.length - 1)) % Math.max(1, list.length));
    else if (e.key === "Enter" && (typed !== word || (!at && !isBest))) {
      if (typed) wanted.current = typed;
      if (isAll && typed === word) wanted.current = "";
    } else if (e.key === "Enter") take(word || at ? list[at] : undefined);
    else return;
    e.preventDefault();
  };
  return (
    <div class="search">
      <input
        ref={box}
        id="search"
        type="search"
        placeholder="Class, object, text, thread, view  ( / )"
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
        <ul id="found" role="listbox" aria-label="What was found">
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
                <span class="name">{visible(o.text)}</span>
              )}
              {o.more ? <small class="right">{o.more}</small> : null}
            </li>
          ))}
        </ul>
        {word && !isAll ? (
          <p class="dim" role="status">
            Looking …
          </p>
        ) : word && list.length === 0 ? (
          <p class="dim" role="status">
            No class, object, text, thread, view or query has “{visible(word)}”.
          </p>
        ) : null}
      </div>
    </div>
  );
}
