import type { Clock, CreateLeaseOptions, HandOff, LeaseStore, StoreLease } from '@leasehold/core'
import type { Random } from '../random.js'
import type { PlannedFault } from './planned-fault.js'
import type { SeenBreak, SeenGrant } from './seen-grant.js'

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
  /** The client of this process. It is for code that makes leases of its own, which no check of the simulator watches. */
  readonly store: LeaseStore
  /** The options of such leases: the owner, the drawn timeouts, virtual time, and randomness from the seed. */
  readonly leaseOptions: CreateLeaseOptions & { readonly owner: string }
  /** Shows something that this process does to the rules of its scenario, until the process ends. */
  show(activity: Activity): void
  /** Virtual time. A process that uses another clock is not deterministic. */
  readonly clock: Clock
  /** The wall clock of its machine, in milliseconds since 1970: up to an hour wrong, and set while the process runs. */
  readonly wall: () => number
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

/** Something that a process does while it may, such as leading. */
export interface Activity {
  /** The kind of activity, such as `permit`. */
  readonly kind: string
  /** The thing that it is done to, such as the name of a semaphore. */
  readonly of: string
  /** Whether the process may do it now: asked after each step, also right after a pause. */
  isActive(): boolean
}

/** The view of the rules of a scenario. */
export interface ScenarioView {
  /** The activities of the processes that are alive and can read their clocks, and that are active now. */
  readonly active: readonly (Activity & { readonly owner: string })[]
  /** As of the processes. */
  readonly shared: ReadonlyMap<string, unknown>
  /** The faults of the plan, with their times: some, such as `forget`, excuse a broken rule. */
  readonly faults: readonly PlannedFault[]
  /** Every grant that the store has made so far, of all names, the last one last. */
  readonly grants: readonly SeenGrant[]
  /** Every break that a store with a clock of its own has carried out so far, with its instant of true time. */
  readonly breaks: readonly (SeenBreak & { readonly at: number })[]
  /** True time, in milliseconds. */
  readonly now: number
}

/** A workload with rules of its own. */
export interface Scenario {
  readonly workload: Workload
  /** Called after each step. Returns how a rule is broken, if one is. */
  readonly findFault?: (view: ScenarioView) => string | undefined
  /**
   * Whether the processes work as they should after the last fault: becomes true within the bound. Unless given: a lease
   * that the simulator watches is held, or anything is active.
   */
  readonly hasProgressed?: (view: ScenarioView) => boolean
}
