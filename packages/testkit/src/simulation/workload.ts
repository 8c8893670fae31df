import type { Clock, HandOff, StoreLease } from '@leasehold/core'
import type { Random } from '../random.js'

/** What a workload is given: one process of the run, from its start to its end. */
export interface SimulatedProcess {
  /** The number of its node, from 0. */
  readonly node: number
  /** The owner of its leases, such as `node-1.2`: the node and how often it was started. */
  readonly owner: string
  /** Its lease on `job`. */
  readonly lease: StoreLease
  /** Another lease of this process, on `job` unless given a name of its own; what holds for one is checked for all. */
  createLease(name?: string): StoreLease
  /** Virtual time; a process that uses any other is not deterministic. */
  readonly clock: Clock
  /** The same for the same seed. */
  readonly random: Random
  /** What all processes of a run share, such as the resource that they work on; empty when the run begins. */
  readonly shared: Map<string, unknown>
  /** Aborted when the work is to end: a workload then returns soon. */
  readonly signal: AbortSignal
  /** Waits, in virtual time; resolves early when the work is to end. */
  sleep(duration: number): Promise<void>
  /**
   * Writes to the resource that the lease protects (that on `job` unless given), under its fencing token, over a network
   * that may lose it. Resolves with whether the resource accepted it; never, where the write or its answer is lost.
   * Rejects while nothing is held.
   */
  write(lease?: StoreLease): Promise<boolean>
  /** Passes a hand-off on to the process that now runs on a node; it may be lost on the way. */
  offer(node: number, handOff: HandOff): void
  /** Takes a hand-off that was offered to this process, if there is one. */
  takeOffer(): HandOff | undefined
  /** The owner on whose name to hand off to a node. */
  ownerOf(node: number): string
  /** How many nodes there are. */
  readonly nodes: number
}

/** What is leased, unless a workload makes leases on other names. */
export const LEASE_NAME = 'job'

/**
 * What every process does; it is begun anew after each restart of the node. It takes time from `process.clock` only, and
 * returns soon after `process.signal` was aborted. One that rejects fails the run: so it can make assertions of its own.
 */
export type Workload = (process: SimulatedProcess) => Promise<void>
