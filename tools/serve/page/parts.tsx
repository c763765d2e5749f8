// Building blocks of all views.
import { ComponentChildren } from "preact";
import { Spec } from "./api";
export const specs = new Map<string, Spec>();

export function Panel({
  title,
  children,
  right,
}: {
  title?: ComponentChildren;
  children: ComponentChildren;
  right?: ComponentChildren;
}) {
  return (
    <section class="panel">
      {title && (
        <h2>
          {title}
          <span class="right">{right}</span>
        </h2>
      )}
      {children}
    </section>
  );
}

// A bar of fixed width, so that bars in a column can be compared.
export function Meter({ part }: { part: number }) {
  return (
    <span class="meter">
      <i style={{ width: `${Math.max(0, Math.min(100, part))}%` }} />
    </span>
  );
}
