import type { Clock, HandOff, StoreLease } from '@leasehold/core'
import type { Random } from '../random.js'

/** The argument of a workload: one process of the simulation, from its start to its end. */
export interface SimulatedProcess {
  /** The number of its node, from 0. */
  readonly node: number
  /** The owner of its leases, such as `node-1.2`: the node and how often it was started. */
  readonly owner: string
  /** Its lease on `job`. */
  readonly lease: StoreLease
  /**
   * Another lease of this process, on `job` unless given a name; all leases are checked. `stretch`: all its durations are so
   * many times those of the plan; 1 unless given.
   */
  createLease(name?: string, stretch?: number): StoreLease
  /** Virtual time. A process that uses another clock is not deterministic. */
  readonly clock: Clock
  /** The same for the same seed. */
  readonly random: Random
  /** Shared by all processes of a simulation, for example a resource. Empty at the start. */
  readonly shared: Map<string, unknown>
  /** Aborts at the end of the simulation: the workload must then return soon. */
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
  /** The owner to which to hand off for a node. */
  ownerOf(node: number): string
  /** How many nodes there are. */
  readonly nodes: number
}

/** The name of the contended lease. */
export const LEASE_NAME = 'job'

/**
 * The work of every process; it starts again after each restart of the node. It takes time from `process.clock` only, and
 * returns soon after `process.signal` aborts. If it rejects, the simulation fails, so it can make assertions.
 */
export type Workload = (process: SimulatedProcess) => Promise<void>
