import type { Clock, HandOff, LeaseStore, StoreLease } from '@leasehold/core'
import type { SimulatedProcess as PublicProcess } from '../../../packages/testkit/src/simulation/simulated-process.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { PlannedFault } from './planned-fault.js'
import type { SeenBreak, SeenGrant } from './seen-grant.js'

/** A process with what only our own workloads use. Its lease is on `job`. */
export interface SimulatedProcess extends PublicProcess {
  /**
   * Another lease of this process, on `job` unless given a name; all leases are checked. `stretch`: all its durations are so
   * many times those of the plan; 1 unless given.
   */
  createLease(name?: string, stretch?: number): StoreLease
  /** A client of the store that has seen nothing yet, as a process has it which has just started. */
  openStore(clock: Clock): LeaseStore
  /** Shows something that this process does to the rules of its scenario, until the process ends. */
  show(activity: Activity): void
  /** True time, for servers that a scenario adds. */
  readonly time: VirtualTime
  /** The wall clock of its machine, in milliseconds since 1970: up to an hour wrong, and set while the process runs. */
  readonly wall: () => number
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
