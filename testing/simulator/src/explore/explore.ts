import { type Bounds, defaultBounds } from './bounds.js'
import { drawSchedule } from './schedule.js'
import { type SearchOptions, type SearchResult, search } from './search.js'

export type { Bounds } from './bounds.js'
export type { SearchOptions } from './search.js'

export interface Exploration extends Omit<SearchResult, 'set' | 'path'> {
  readonly bounds: Bounds
  /** The shortest schedule that breaks a rule, as a table; `undefined` if none is broken. */
  readonly schedule: string | undefined
}

/**
 * Visits every state that leases can come to within bounds: every order of messages, timers, crashes and drifting clocks. The
 * transition function and the decisions of the stores are those that ship.
 */
export function explore(bounds: Partial<Bounds> = {}, options: SearchOptions = {}): Exploration {
  const within: Bounds = { ...defaultBounds, ...bounds }
  const first = search(within, options)
  // With the reduction, a state can be found by a way that is a little longer than the shortest.
  const isShortest = first.found === undefined || first.found.rule === 'no-progress' || options.reduces === false
  const { set, path, ...result } = isShortest ? first : search(within, { ...options, reduces: false })
  const schedule = result.found === undefined ? undefined : drawSchedule(within, { set, path, found: result.found })
  return { ...result, bounds: within, schedule }
}
