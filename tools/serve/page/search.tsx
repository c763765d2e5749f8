// The search at the top: an object's identifier, classes, and where else a word may be looked for.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api";
import { Name } from "./parts";
import { change, linkTo } from "./route";
import { number, visible } from "./text";

interface Offer { kind: string; text: string; more?: string; go(): void }

const to = (address: string) => () => { location.hash = address; };
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

// What a word may mean without asking anybody.
function offersOf(text: string, views: { name: string; title: string }[]): Offer[] {
  if (!text) return views.map((v) => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) }));
  if (/^0x[0-9a-f]+$/i.test(text)) return [{ kind: "object", text: text.toLowerCase(), go: () => change({ obj: text.toLowerCase(), tab: undefined }) }];
  const pattern = /[*?]/.test(text) ? text : `*${text}*`, low = text.toLowerCase();
  return [{ kind: "histogram", text: `classes like ${pattern}`, go: to(linkTo("histogram", { target: pattern })) },
    ...views.filter((v) => v.title.toLowerCase().startsWith(low)).map((v) => ({ kind: "view", text: v.title, go: to(linkTo(v.name)) })),
    { kind: "strings", text: `texts that have “${text}”`, go: to(linkTo("strings", { o_match: `(?i)${escaped(text)}` })) },
    { kind: "threads", text: `threads, frames and locals with “${text}”`, go: to(linkTo("threads", { filter: text })) }];
}

export function Search({ views, db }: { views: { name: string; title: string }[]; db?: string }) {
  const [text, setText] = useState(""), [open, setOpen] = useState(false), [at, setAt] = useState(0);
  const [classes, setClasses] = useState<Offer[]>([]), box = useRef<HTMLInputElement>(null);
  const word = text.trim();
  useEffect(() => {
    setClasses([]);
    setAt(0);
    if (word.length < 2 || /^0x/i.test(word)) return;
    let live = true;
    const question = { now: null as ReturnType<typeof ask> | null };
    const timer = setTimeout(() => {
      question.now = ask("class", { db, target: /[*?]/.test(word) ? word : `*${word}*`, list: "1", sort: "instances", limit: "8" });
      question.now.answer.then((a) => {
        if (live) setClasses(a.rows.map((r) => ({ kind: "class", text: String(r.class), more: `${number(Number(r.instances))} objects`,
          go: () => { if (Number(r.instances)) location.hash = linkTo("histogram", { target: String(r.class) }); else change({ obj: String(r.id), tab: undefined }); } })));
      }, () => undefined);
    }, 120);
    return () => { live = false; clearTimeout(timer); };
  }, [word, db]);
  const general = offersOf(word, views), list = [...general.slice(0, 1), ...classes, ...general.slice(1)];
  const take = (offer?: Offer) => {
    if (!offer) return;
    setOpen(false);
    box.current?.blur();
    offer.go();
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") setAt((at + (e.key === "ArrowDown" ? 1 : list.length - 1)) % list.length);
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
