import type { Operation } from './operation.js'

/** What a client noticed by itself: a heartbeat that was confirmed, or the loss of its grant. */
export interface Notice {
  readonly notice: 'renewed' | 'lost'
  readonly client: number
  readonly life: number
  readonly name: string
  readonly token: bigint
  readonly at: number
  /** Of a renewal. */
  readonly validUntil?: number
  /** Of a loss. */
  readonly reason?: string
}

/** A fault that was carried out. */
export interface AppliedFault {
  /** Such as `kill-client`, `freeze-server`, `cut-client`. */
  readonly kind: string
  /** Such as `client 2` or `server 1`. */
  readonly target: string
  readonly from: number
  /** When it was over: the process runs again, the network is as before. */
  readonly to: number
}

/** All that was recorded in one run, each list in the order of `from` or `at`. */
export interface History {
  /** How the run can be repeated: the store, the seed, the duration, the timeouts. */
  readonly title: string
  readonly clients: number
  readonly ttl: number
  readonly operations: readonly Operation[]
  readonly notices: readonly Notice[]
  readonly faults: readonly AppliedFault[]
  /** From when to when the clients worked. */
  readonly from: number
  readonly to: number
}
