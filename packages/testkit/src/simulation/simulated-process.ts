import type { Clock, CreateLeaseOptions, LeaseStore, StoreLease } from '@leasehold/core'
import type { Random } from '../random.js'

/** The argument of a workload: one process of a simulation, from its start to its end. */
export interface SimulatedProcess {
  /** The number of its node, from 0. */
  readonly node: number
  /** The owner of its leases, such as `node-1.2`: the node and how often it was started. */
  readonly owner: string
  /** Its lease; all processes contend for it. */
  readonly lease: StoreLease
  /** The client of this process. It is for code that makes leases of its own, which no check of the simulator watches. */
  readonly store: LeaseStore
  /** The options of such leases: the owner, the timeouts, virtual time, and randomness from the seed. */
  readonly leaseOptions: CreateLeaseOptions & { readonly owner: string }
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
}
