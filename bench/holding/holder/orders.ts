import type { StoreKind } from './open-store.js'

/** How many waiters of a process begin in a second of a take-over: all of a process within a minute, and beside heartbeats. */
export const WAITERS_A_SECOND = 300

/** The task of a process that holds leases. Durations are milliseconds. */
export interface HolderTask {
  readonly store: StoreKind
  readonly address: string
  readonly ttl: number
  readonly interval: number
}

/** Leases with names of consecutive numbers. */
export interface Span {
  readonly first: number
  readonly count: number
}

/** The counts of a process. */
export interface Counts {
  readonly held: number
  /** Grants that ended without a release. */
  readonly lost: number
  /** Attempts to acquire that rejected, and were repeated. */
  readonly failures: number
}

/** Bytes, after a garbage collection. */
export interface Memory {
  readonly heap: number
  readonly resident: number
}

/** Since the order `begin`. */
export interface Figures extends Counts {
  /** Leases whose `checkLease()` is `true`. */
  readonly valid: number
  /** Processor time in milliseconds. */
  readonly cpu: number
  /** By how much timers of 10 ms came late, in milliseconds. */
  readonly delayP99: number
  readonly delayMax: number
}

/** The outcome of a take-over. */
export interface Taken {
  /** The fencing tokens in the order of the names; empty where a name was not taken. */
  readonly tokens: readonly string[]
  /** From the instant of the order to each grant, in milliseconds. */
  readonly after: readonly number[]
  readonly failures: number
}

/** The orders that a holder carries out, with their arguments and their answers. */
export interface Orders {
  readonly 'warm-up': { readonly of: object; readonly answer: object }
  /** Acquires the leases. */
  readonly hold: { readonly of: Span; readonly answer: Counts }
  readonly count: { readonly of: object; readonly answer: Counts }
  readonly collect: { readonly of: object; readonly answer: Memory }
  readonly begin: { readonly of: object; readonly answer: object }
  readonly figures: { readonly of: object; readonly answer: Figures }
  /** The fencing tokens of the leases that it has acquired, in the order of their names. */
  readonly tokens: { readonly of: object; readonly answer: readonly string[] }
  /** Waits for leases that another process held until `since`, by the wall clock. */
  readonly take: { readonly of: Span & { readonly since: number; readonly wait: number }; readonly answer: Taken }
  /** Acquires and releases; one after the other, or in parallel. The times of each cycle, in milliseconds. */
  readonly cycles: {
    readonly of: { readonly rounds: number; readonly lanes: number }
    readonly answer: readonly number[]
  }
  /** From the call of a release to the grant of a waiter, in milliseconds. */
  readonly 'hand-over': {
    readonly of: { readonly waiters: number; readonly rounds: number }
    readonly answer: readonly number[]
  }
}
