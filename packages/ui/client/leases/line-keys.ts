import type { RefObject } from 'preact'
import { scrollTopFor, type Viewport } from '../list/window.js'

/** Up, down, home, end and the page keys go from line to line, also to lines that are not drawn yet. */
export function lineKeys(scroller: RefObject<HTMLElement | null>, count: number, viewport: () => Viewport) {
  return (event: KeyboardEvent) => {
    const line = event.target instanceof Element ? event.target.closest('[data-line]') : null
    if (line === null || event.altKey || event.ctrlKey || event.metaKey) return
    const { height, lineHeight } = viewport()
    const page = Math.max(1, Math.floor(height / lineHeight) - 1)
    const from = Number(line.getAttribute('data-line'))
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      PageDown: from + page,
      PageUp: from - page,
      Home: 0,
      End: count - 1,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    const index = Math.min(Math.max(0, target), count - 1)
    const scrollTop = scrollTopFor(index, viewport())
    if (scrollTop !== undefined) scroller.current?.scrollTo({ top: scrollTop, behavior: 'instant' })
    focusLine(scroller, index, 10)
  }
}

/** A line that comes into view is drawn with one of the next frames. */
function focusLine(scroller: RefObject<HTMLElement | null>, index: number, frames: number): void {
  const target = scroller.current?.querySelector<HTMLElement>(`[data-line="${index}"] :is(a, button)`)
  if (target) target.focus({ preventScroll: true })
  else if (frames > 0) requestAnimationFrame(() => focusLine(scroller, index, frames - 1))
}
