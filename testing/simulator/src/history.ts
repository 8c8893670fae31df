/** The actor of an event: the number of a node, or a part of the surroundings. */
export type Actor = number | 'store' | 'operator' | 'network' | 'check'

/** An event, at an instant of true time in milliseconds. */
export interface HistoryEntry {
  readonly at: number
  readonly actor: Actor
  readonly event: HistoryEvent
  /** Details such as the fencing token, the reason or the answer. */
  readonly detail: string
}

export type HistoryEvent =
  | 'started'
  | 'crashed'
  | 'paused'
  | 'suspended'
  | 'resumed'
  | 'fault'
  | 'acquire'
  | 'acquired'
  | 'refused'
  | 'failed'
  | 'run'
  | 'ran'
  | 'release'
  | 'released'
  | 'lost'
  | 'granted'
  | 'marked'
  | 'updated'
  | 'wrote'
  | 'violation'
