/** Who did something in a run: a node, by its number, or what stands outside of them. */
export type Actor = number | 'store' | 'operator' | 'network' | 'check'

/** Something that happened, at an instant of true time in milliseconds. */
export interface HistoryEntry {
  readonly at: number
  readonly actor: Actor
  readonly event: HistoryEvent
  /** Fencing token, reason, what was answered: whatever tells this event from others of its kind. */
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
  | 'updated'
  | 'wrote'
  | 'violation'
