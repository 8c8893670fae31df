import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useReducer } from 'preact/hooks'
import type { Api } from '../api/api.js'
import type { Formats } from '../format/formats.js'
import type { PageState } from '../state/page-state.js'
import type { Topic } from '../state/topics.js'
import type { HistoryCache } from '../timeline/history-cache.js'

/** The objects that every part of the page can use. */
export interface Page {
  readonly state: PageState
  readonly api: Api
  readonly formats: Formats
  readonly history: HistoryCache
  /** How far each list was scrolled, for those who come back to it. */
  readonly places: Map<string, number>
  /** Takes the token that the reader typed, and connects again. */
  readonly unlock: (token: string) => void
}

export const PageContext = createContext<Page | undefined>(undefined)

export function usePage(): Page {
  const page = useContext(PageContext)
  if (page === undefined) throw new Error('There is no page around this part.')
  return page
}

/** The page; the part is drawn again when one of the topics has changed. */
export function usePageOn(...topics: readonly Topic[]): Page {
  const page = usePage()
  const [, drawAgain] = useReducer((count: number, _: undefined) => count + 1, 0)
  // `useEffect` runs after the next frame, and would miss the changes before it.
  useLayoutEffect(() => {
    const offs = topics.map((topic) => page.state.topics.on(topic, () => drawAgain(undefined)))
    return () => {
      for (const off of offs) off()
    }
  }, [page, ...topics])
  return page
}

/** Draws the part again each `period` milliseconds, for times that go on. Returns how often it has. */
export function useTick(period: number): number {
  const { clock } = usePage().state
  const [ticks, tick] = useReducer((count: number, _: undefined) => count + 1, 0)
  useEffect(() => {
    let cancel = () => {}
    const next = () => {
      cancel = clock.schedule(period, () => {
        tick(undefined)
        next()
      })
    }
    next()
    return () => cancel()
  }, [clock, period])
  return ticks
}
