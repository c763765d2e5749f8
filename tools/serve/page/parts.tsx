// Building blocks of all views.
import { ComponentChildren } from "preact";
import { Spec } from "./api";
export const specs = new Map<string, Spec>();
export const NARROW = 760; // pixels; narrower windows get the layout for phones

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

// A drop-down list.
export function Choice({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: string;
  choices: string[][];
  onChange(v: string): void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(e) => onChange((e.target as HTMLSelectElement).value)}>
        {choices.map(([v, t]) => (
          <option value={v}>{t ?? v}</option>
        ))}
      </select>
    </label>
  );
}
