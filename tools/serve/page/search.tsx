// The search at the top: an object's identifier, classes, and where else a word may be looked for.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, hasSql, Row } from "./api";
import { Name } from "./parts";
import { change, linkTo } from "./route";
import { number, visible } from "./text";

interface Offer { kind: string; text: string; more?: string; go(): void }

const to = (address: string) => () => { location.hash = address; };
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const OFFERED = 8, CLASSES = 400; // classes that are offered, and looked at for that

// Classes that have a word in their names, in upper or lower case: those that are called so first, then those with most objects.
async function classesLike(word: string, db?: string): Promise<Row[]> {
  const low = word.toLowerCase(), pattern = /[*?]/.test(word);
  const like = pattern ? `GLOB '${low.replace(/'/g, "''")}'` : `LIKE '%${low.replace(/[\\%_]/g, "\\$&").replace(/'/g, "''")}%' ESCAPE '\\'`;
  const rows = hasSql() ? (await ask("sql", { db, limit: String(CLASSES), q: `SELECT name, id, objects FROM classes WHERE lower(name) ${like} ORDER BY length(name) - length('${low.replace(/'/g, "''")}') > 0 AND name NOT LIKE '%.${low.replace(/'/g, "''")}', objects DESC` }).answer).rows
    : (await ask("histogram", { db, shallow: "1", limit: "50000" }).answer).rows.filter((r) => String(r.name).toLowerCase().includes(low.replace(/[*?]/g, "")));
  const isIt = (r: Row) => { const name = String(r.name).toLowerCase(); return name === low || name.endsWith(`.${low}`) || name.endsWith(`$${low}`); };
  return [...rows.filter(isIt), ...rows.filter((r) => !isIt(r))];
}

// What a word may mean without asking anybody; `found`: classes that have it.
function offersOf(text: string, views: { name: string; title: string }[], found: Row[], exact: Offer[]): Offer[] {
  if (!text) return views.map((v) => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) }));
  const id = `0x${text.toLowerCase().replace(/^0x/, "")}`, isId = /^0x[0-9a-f]{1,16}$/.test(id), low = text.toLowerCase();
  const object: Offer = { kind: "object", text: id, go: () => change({ obj: id, tab: undefined }) };
  if (isId && /^0x/i.test(text)) return [object];
  // A pattern minds upper and lower case, the filter of a table does not.
  const pattern = /[*?]/.test(text) ? text : `*${text}*`, asIs = /[*?]/.test(text) || found.some((r) => String(r.name).includes(text));
  const histogram: Offer = { kind: "histogram", text: asIs ? `classes like ${pattern}` : `classes with “${text}”`, go: to(linkTo("histogram", asIs ? { target: pattern } : { filter: escaped(text) })) };
  const isHex = isId && text.length > 4 && /\d/.test(text); // as it is copied out of other tools
  return [...exact, ...(isHex ? [object] : []), ...(found.length ? [histogram] : []),
    ...views.filter((v) => v.title.toLowerCase().startsWith(low)).map((v) => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) })),
    { kind: "strings", text: `texts that have “${text}”`, go: to(linkTo("strings", { o_match: `(?i)${escaped(text)}` })) },
    { kind: "threads", text: `threads, frames and locals with “${text}”`, go: to(linkTo("threads", { filter: text })) },
    ...(isId && !isHex ? [object] : [])];
}

export function Search({ views, db }: { views: { name: string; title: string }[]; db?: string }) {
  const [text, setText] = useState(""), [open, setOpen] = useState(false), [at, setAt] = useState(0);
  const [found, setFound] = useState<{ word: string; rows: Row[] }>({ word: "", rows: [] }), box = useRef<HTMLInputElement>(null);
  const word = text.trim(), wanted = useRef(""); // a word that Enter was pressed for before its classes were known
  const asks = word.length > 1 && !/^0x/i.test(word), isKnown = !asks || found.word === `${db} ${word}`;
  useEffect(() => {
    setAt(0);
    if (wanted.current !== word) wanted.current = "";
    if (!asks) return;
    let live = true;
    const set = (rows: Row[]) => { if (live) setFound({ word: `${db} ${word}`, rows }); };
    const timer = setTimeout(() => { classesLike(word, db).then(set, () => set([])); }, 120);
    return () => { live = false; clearTimeout(timer); };
  }, [word, db]);
  const rows = asks && isKnown ? found.rows : [], low = word.toLowerCase();
  const classes = rows.slice(0, OFFERED).map((r): Offer => ({ kind: "class", text: String(r.name), more: `${number(Number(r.objects))} objects`,
    go: () => { if (Number(r.objects)) location.hash = linkTo("histogram", { target: String(r.name) }); else change({ obj: String(r.id), tab: undefined }); } }));
  const exact = classes.filter((c) => { const name = c.text.toLowerCase(); return name === low || name.endsWith(`.${low}`); });
  const general = offersOf(word, views, rows, exact), head = general.findIndex((o) => o.kind === "histogram") + 1;
  const list = [...general.slice(0, head), ...classes.filter((c) => !exact.includes(c)), ...general.slice(head)];
  useEffect(() => { if (isKnown && word && wanted.current === word) { wanted.current = ""; take(list[0]); } }, [isKnown, word]);
  const take = (offer?: Offer) => {
    if (!offer) return;
    setOpen(false);
    box.current?.blur();
    offer.go();
  };
  const onKey = (e: KeyboardEvent) => {
    const typed = box.current!.value.trim(); // keys may be quicker than what is drawn
    if (e.key === "ArrowDown" || e.key === "ArrowUp") setAt((at + (e.key === "ArrowDown" ? 1 : list.length - 1)) % list.length);
    else if (e.key === "Enter" && !at && (!isKnown || typed !== word)) wanted.current = typed;
    else if (e.key === "Enter") take(word || at ? list[at] : undefined);
    else return;
    e.preventDefault();
  };
  return <div class="search">
    <input ref={box} id="search" type="search" placeholder="Class, object 0x…, text, view  ( / )" aria-label="Search" value={text} role="combobox" aria-expanded={open} aria-controls="found" autocomplete="off"
      onFocus={() => { setOpen(true); box.current?.select(); }} onBlur={() => setTimeout(() => setOpen(document.activeElement === box.current), 150)} onInput={(e) => { setText((e.target as HTMLInputElement).value); setOpen(true); }} onKeyDown={onKey} />
    <ul id="found" class="offer" role="listbox" hidden={!open}>{list.map((o, i) => <li role="option" aria-selected={i === at} class={i === at ? "on" : ""} onMouseDown={(e) => { e.preventDefault(); take(o); }}>
      <small class="kind">{o.kind}</small>{o.kind === "class" ? <Name text={o.text} /> : visible(o.text)}{o.more ? <small class="right">{o.more}</small> : null}</li>)}</ul>
  </div>;
}
