/** Of the blocked leases, in milliseconds. */
export const TTL = 2_000

/** What blocks the event loop. */
export type Block = 'a busy loop' | 'synchronous file reads' | 'garbage collection of a large heap'

export const blocks: readonly Block[] = ['a busy loop', 'synchronous file reads', 'garbage collection of a large heap']

/** The work of one process. */
export type Task =
  | {
      readonly type: 'blocked'
      readonly isThreaded: boolean
      readonly block: Block
      readonly ttls: number
      readonly folder: string
      readonly leases: number
    }
  | { readonly type: 'cost'; readonly isThreaded: boolean; readonly leases: number; readonly seconds: number }

export interface Cost {
  /** From the start to the first grant, in milliseconds. */
  readonly start: number
  /** Resident memory that was added, in MB. */
  readonly memory: number
  /** CPU time in percent of one core, while all leases are held. */
  readonly cpu: number
  /** Nanoseconds. */
  readonly checkLease: number
}
