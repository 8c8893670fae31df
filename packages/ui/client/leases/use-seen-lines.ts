import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type LineWindow, type Viewport, windowOf } from '../list/window.js'
import { usePage } from '../shell/page-context.js'

export interface SeenLines extends LineWindow {
  readonly lineHeight: number
  /** The visible lines now: scrolling changes them without a drawing. */
  readonly viewport: () => Viewport
}

/**
 * The lines that are seen in the element `scroller`, which has a table with a head that stays. The part is drawn again only when
 * other lines are seen. `list` is the name under which the page remembers how far it was scrolled.
 */
export function useSeenLines(scroller: RefObject<HTMLElement | null>, list: string, count: number): SeenLines {
  const { places } = usePage()
  const viewport = useRef<Viewport>({ scrollTop: places.get(list) ?? 0, height: 900, lineHeight: 34 })
  const counted = useRef(count)
  counted.current = count
  const [, setDrawn] = useState('')

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const see = (next: Partial<Viewport>) => {
      viewport.current = { ...viewport.current, ...next }
      const { first, end } = windowOf(viewport.current, counted.current)
      setDrawn(`${first} ${end} ${viewport.current.lineHeight}`)
    }
    const onScroll = () => {
      places.set(list, element.scrollTop)
      see({ scrollTop: element.scrollTop })
    }
    const onResize = () => {
      const head = element.querySelector('thead')?.offsetHeight ?? 0
      see({ height: element.clientHeight - head, lineHeight: lineHeightIn(element) })
    }
    const resizes = new ResizeObserver(onResize)
    resizes.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    onResize()
    element.scrollTop = places.get(list) ?? 0
    return () => {
      resizes.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [scroller, list, places])

  const { current } = viewport
  return { ...windowOf(current, count), lineHeight: current.lineHeight, viewport: () => viewport.current }
}

/** The style sheet sets it, in `rem`: a reader may have chosen larger letters. */
function lineHeightIn(element: HTMLElement): number {
  const inRem = Number.parseFloat(getComputedStyle(element).getPropertyValue('--line-height'))
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  return Math.round(inRem * rem) || 34
}
