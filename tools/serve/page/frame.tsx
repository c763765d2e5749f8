// Parts of the frame: list of databases, list of views in four groups, and the menu in the header.
import { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Database } from "./api";
import { copyText } from "./export";
import { Item, More } from "./objects";
import { numberOf, useInfo, vmOf, when } from "./overview";
import { href, linkTo } from "./route";
import { bytes, number, visible } from "./text";
import { View } from "./list";

// A group of links with one Tab stop (roving tabindex): arrows, Home and End move between the links.
function Roving({
  name,
  label,
  id,
  children,
}: {
  name: string;
  label: string;
  id?: string;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLElement>(null);
  const links = () => [...box.current!.querySelectorAll<HTMLElement>("a")];
  useLayoutEffect(() => {
    const all = links(),
      stop = all.find((a) => a.hasAttribute("aria-current")) ?? all[0];
    for (const a of all) a.tabIndex = a === stop ? 0 : -1;
  });
  const onKey = (e: KeyboardEvent) => {
    const all = links(),
      now = all.indexOf(document.activeElement as HTMLElement),
      last = all.length - 1;
    const to: Record<string, number> = {
      ArrowDown: now + 1,
      ArrowRight: now + 1,
      ArrowUp: now - 1,
      ArrowLeft: now - 1,
      Home: 0,
      End: last,
    };
    if (now < 0 || to[e.key] === undefined) return;
    all[Math.max(0, Math.min(last, to[e.key]))].focus();
    e.preventDefault();
  };
  return (
    <nav class={name} aria-label={label} id={id} ref={box} onKeyDown={onKey}>
      {children}
    </nav>
  );
}

// A database with its name and size. The tooltip has more facts.
function Chip({ database: d, on, view }: { database: Database; on: boolean; view: string }) {
  const { info } = useInfo(String(d.index));
  const size = info && numberOf(info("objects", "reachable bytes")),
    objects = info && numberOf(info("objects", "objects"));
  const more = info && [
    vmOf(info),
    when(info("dump", "time")),
    typeof objects === "number" && `${number(objects)} objects`,
    typeof size === "number" && `${bytes(size)} reachable`,
  ];
  const title = [d.stale, d.incomplete, more && more.filter(Boolean).join(" · ")].filter(Boolean).join("\n");
  return (
    <a
      class={on ? "chip on" : "chip"}
      aria-current={on ? "true" : undefined}
      href={href(view, { db: d.index ? String(d.index) : undefined })}
      title={title}
    >
      {visible(d.name.replace(/\.heapdb$/, ""))}
      {d.stale ? " (stale)" : d.incomplete ? " (incomplete)" : ""}{" "}
      <small>{typeof size === "number" ? bytes(size) : "\u2007\u2007\u2007\u2007\u2007\u2007\u2007"}</small>
    </a>
  );
}

export function Databases({ databases, db, view }: { databases: Database[]; db: number; view: string }) {
  return (
    <Roving name="dbs" label="Databases">
      {databases.map((d) => (
        <Chip key={d.index} database={d} on={d.index === db} view={view} />
      ))}
    </Roving>
  );
}

// Counts for views that are listed only if they have something to show.
function useBadges(db?: string): Record<string, number> {
  const { info } = useInfo(db);
  return { problems: (info && numberOf(info("dump", "problems"))) ?? 0 };
}

const GROUPS = ["Find", "Explore", "Waste", "Tools"];

export function ViewList({ views, view, db }: { views: View[]; view: View; db?: string }) {
  const badges = useBadges(db);
  const isListed = (v: View) => !v.inner && (badges[v.name] !== 0 || v === view);
  return (
    <Roving name="views" label="Views" id="views">
      {GROUPS.filter((group) => views.some((v) => v.group === group && isListed(v))).map((group) => (
        <div class="group-of" role="group" aria-label={group}>
          <span aria-hidden="true">{group}</span>
          {views
            .filter((v) => v.group === group && isListed(v))
            .map((v) => (
              <a
                class={v === view ? "on" : ""}
                aria-current={v === view ? "page" : undefined}
                href={linkTo(v.name)}
                title={v.line}
                data-badge={badges[v.name] ? number(badges[v.name]) : undefined}
              >
                {v.title}
              </a>
            ))}
        </div>
      ))}
    </Roving>
  );
}

const STATUS = 2000; // milliseconds for which a status message is shown

export function HeaderMore({ items }: { items: Item[] }) {
  const [status, setStatus] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setStatus(""), STATUS);
    return () => clearTimeout(timer);
  }, [status]);
  const copy = () =>
    void copyText(location.href, "address.txt").then((isCopied) => setStatus(isCopied ? "Copied" : "Saved"));
  return (
    <>
      <span class="said" role="status">
        {status}
      </span>
      <More label="More" items={[["Copy the address of this view", copy], ...items]} />
    </>
  );
}
