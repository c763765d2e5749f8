// User notes on objects, classes and leaks. The server stores them in a file next to the database.
import { useEffect, useRef, useState } from "preact/hooks";
import { canNote, Cell, writeNote, notesOf, readNotes, report } from "./api";
import { classPage, Item, Obj } from "./objects";
import { Panel } from "./parts";
import { visible } from "./text";

// Returns the notes of a database and redraws when any note changes.
function useNotes(db?: string): Record<string, string> {
  const [, draw] = useState(0),
    shown = notesOf(db);
  useEffect(() => {
    const on = () => draw((n) => n + 1);
    addEventListener("notes", on);
    readNotes(db);
    if (notesOf(db) !== shown) on(); // the notes were loaded after the first drawing
    return () => removeEventListener("notes", on);
  }, [db]);
  return shown;
}

const MOST = 1000; // bytes, the server's limit

function Editor({ db, on, text, onDone }: { db?: string; on: string; text: string; onDone(): void }) {
  const [error, setError] = useState(""),
    field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = (to: string | null) => void writeNote(db, on, to).then(onDone, (e: Error) => setError(e.message));
  return (
    <form
      class="note"
      onSubmit={(e) => {
        e.preventDefault();
        const words = field.current!.value.trim();
        if (words) save(words);
        else if (text) save(null);
        else onDone();
      }}
    >
      <input
        ref={field}
        size={40}
        maxLength={MOST}
        aria-label={`Note on ${on}`}
        placeholder="Your note, for example: expected, ticket 123 …"
        defaultValue={text}
        onKeyDown={(e) => {
          if (e.key === "Escape") {
            e.stopPropagation();
            onDone();
          }
        }}
      />
      <button type="submit">Save</button>
      {text && (
        <button type="button" onClick={() => save(null)}>
          Remove
        </button>
      )}
      <button type="button" onClick={onDone}>
        Cancel
      </button>
      {error && (
        <span class="error" role="alert">
          {visible(error)}
        </span>
      )}
    </form>
  );
}

const namesOf = (on: Cell[]): string[] => [
  ...new Set(on.filter((n) => n !== null && n !== undefined && n !== "").map((n) => String(n).replace(/^class /, ""))),
];

// Menu item "Add a note". It opens the editor of the <Notes> for the same subject, wherever that is on the page.
export function noteItem(on: Cell[]): Item[] {
  const [name] = namesOf(on);
  if (!canNote() || name === undefined) return [];
  return [["Add a note", () => dispatchEvent(new CustomEvent("addnote", { detail: name }))]];
}

// Notes on any of these subjects (an object ID, a class, a leak fingerprint). A new note goes to the first of them.
// `quiet`: no "Add a note" button here, because a menu has it.
export function Notes({ db, on, quiet }: { db?: string; on: Cell[]; quiet?: boolean }) {
  const all = useNotes(db),
    [edited, edit] = useState<string | null>(null),
    names = namesOf(on);
  useEffect(() => {
    const onAdd = (e: Event) => {
      if (quiet && (e as CustomEvent<string>).detail === names[0]) edit(names[0]);
    };
    addEventListener("addnote", onAdd);
    return () => removeEventListener("addnote", onAdd);
  }, [names[0], quiet]);
  if (names.length === 0) return null;
  const have = names.filter((n) => all[n] !== undefined);
  return (
    <div class="notes">
      {have
        .filter((n) => n !== edited)
        .map((n) => (
          <p class="note">
            <b>Note:</b> {visible(all[n])}{" "}
            {canNote() && (
              <button class="link" onClick={() => edit(n)}>
                edit
              </button>
            )}
          </p>
        ))}
      {edited !== null ? (
        <Editor key={edited} db={db} on={edited} text={all[edited] ?? ""} onDone={() => edit(null)} />
      ) : (
        canNote() &&
        !quiet &&
        all[names[0]] === undefined && (
          <button class="link" onClick={() => edit(names[0])}>
            Add a note
          </button>
        )
      )}
    </div>
  );
}

// All notes of a database.
export function AllNotes({ db }: { db?: string }) {
  const all = Object.entries(useNotes(db)).sort();
  if (all.length === 0) return null;
  const name = (on: string) =>
    on.startsWith("0x") ? (
      <Obj id={on} text={on} />
    ) : /^[0-9a-f]{40}$/.test(on) ? (
      <>leak {on.slice(0, 8)}</>
    ) : report ? (
      visible(on)
    ) : (
      <a href={classPage(on)}>{visible(on)}</a>
    );
  return (
    <Panel title="Notes">
      <ul class="parts">
        {all.map(([on, text]) => (
          <li title={on}>
            {name(on)}: {visible(text)}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
