import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type LineWindow, type Viewport, windowOf } from '../list/window.js'

export interface SeenLines extends LineWindow {
  readonly lineHeight: number
  /** What is seen now; it changes without a drawing. */
  readonly viewport: () => Viewport
}

/** The lines of the list that are seen in the element `scroller`. The part is drawn again only when other lines are seen. */
export function useSeenLines(scroller: RefObject<HTMLElement>, count: number): SeenLines {
  const viewport = useRef<Viewport>({ scrollTop: 0, height: 900, lineHeight: 34 })
  const [seen, setSeen] = useState(() => windowOf(viewport.current, count))
  const counted = useRef(count)
  counted.current = count

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const read = () => {
      viewport.current = {
        scrollTop: element.scrollTop,
        height: element.clientHeight,
        lineHeight: lineHeightIn(element),
      }
      setSeen((before) => {
        const after = windowOf(viewport.current, counted.current)
        return after.first === before.first && after.end === before.end ? before : after
      })
    }
    const resizes = new ResizeObserver(read)
    resizes.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    read()
    return () => {
      resizes.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [scroller])

  void seen
  return { ...windowOf(viewport.current, count), lineHeight: viewport.current.lineHeight, viewport: () => viewport.current }
}

/** The style sheet sets it, in `rem`: a reader may have chosen larger letters. */
function lineHeightIn(element: HTMLElement): number {
  const inRem = Number.parseFloat(getComputedStyle(element).getPropertyValue('--line-height'))
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  return Math.round(inRem * rem) || 34
}
