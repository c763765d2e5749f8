// The help dialog: keys and terms.
import { useLayoutEffect, useRef } from "preact/hooks";

const keys: [string, string][] = [
  ["/  Ctrl K", "search: classes, objects, strings, threads, views"],
  ["?", "this box"],
  ["Esc", "zoom out in a picture; close the inspector, a menu or this box"],
  ["↑ ↓", "rows of a table or tree, cells of a picture"],
  ["→ ←", "open or close a row; move to a neighbouring cell"],
  ["Enter", "open the row, zoom into the cell"],
  ["Ctrl, Shift", "with a click: select several rows and show what they retain together"],
  ["Space, Shift ↑ ↓", "the same with keys"],
  [".", "menu of the object (also the right mouse button)"],
  ["Ctrl Enter", "run the statement (SQL)"],
  ["Ctrl Space", "complete (SQL)"],
];
const words: [string, string][] = [
  ["Shallow size", "bytes of the object itself."],
  [
    "Retained size",
    "memory that would be freed without the object: the object and all that it dominates. For several objects, " +
      "“at least” marks a lower bound.",
  ],
  ["Dominator", "A dominates B if every path from the GC roots to B passes through A."],
  [
    "GC root",
    "object that the VM itself keeps alive, for example through a class, a thread's local variable or native code.",
  ],
  [
    "Reachable",
    "a path of references leads to it from a GC root. Sums count reachable objects unless stated otherwise.",
  ],
];

export function Help({ onClose }: { onClose(): void }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current?.querySelector("button")?.focus();
  }, []);
  return (
    <div
      class="help"
      role="dialog"
      aria-modal="true"
      aria-label="Keys and terms"
      ref={box}
      onClick={(e) => {
        if (e.target === box.current) onClose();
      }}
    >
      <div class="panel">
        <button class="close" aria-label="Close" onClick={onClose}>
          ×
        </button>
        <h2>Keys</h2>
        <dl>
          {keys.map(([key, what]) => (
            <div>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <h2>Terms</h2>
        <dl>
          {words.map(([word, what]) => (
            <div>
              <dt>{word}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p class="dim">
          The URL of a view contains its filter, sort order, zoom and object, so everyone who opens it sees the same.
        </p>
      </div>
    </div>
  );
}
