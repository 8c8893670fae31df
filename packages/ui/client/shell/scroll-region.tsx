import type { ComponentChildren, RefObject } from 'preact'

/**
 * A part of the page that scrolls by itself. It has a place in the order of Tab, so that the keyboard can scroll it, also when
 * nothing in it has the focus.
 */
export function ScrollRegion({
  name,
  kind,
  region,
  children,
}: {
  /** For screen readers. */
  readonly name: string
  /** The class: `scroller` fills the page, `wide` scrolls to the side. */
  readonly kind: 'scroller' | 'wide'
  readonly region?: RefObject<HTMLElement | null>
  readonly children: ComponentChildren
}) {
  return (
    <section class={kind} ref={region ?? null} tabIndex={0} aria-label={name}>
      {children}
    </section>
  )
}
