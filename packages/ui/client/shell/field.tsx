import type { ComponentChildren } from 'preact'

/** A name with its value, in a list of them. */
export function Field({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
