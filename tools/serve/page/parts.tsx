// What all views are made of.
import { ComponentChildren } from "preact";
import { Spec } from "./api";
export const specs = new Map<string, Spec>();

export function Panel({
  title,
  children,
  right,
}: {
  title: ComponentChildren;
  children: ComponentChildren;
  right?: ComponentChildren;
}) {
  return (
    <section class="panel">
      <h2>
        {title}
        <span class="right">{right}</span>
      </h2>
      {children}
    </section>
  );
}
