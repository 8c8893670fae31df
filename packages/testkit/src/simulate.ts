import type { TimeoutOptions } from '@leasehold/core'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { SimulatedProcess } from './simulation/simulated-process.js'

export interface SimulationOptions {
  /** Any whole number. Options that are not given are drawn from it. The same seed gives the same run. */
  readonly seed: number
  /** How many nodes contend; 2 to 5 unless given. */
  readonly nodes?: number | undefined
  /**
   * The work of each process; it starts again after each restart of a node. It takes time from its process only, and returns
   * soon after `signal` aborts. The simulation fails where it rejects, so it can make assertions. By default it claims,
   * holds and releases the lease in every possible way.
   */
  readonly workload?: ((process: SimulatedProcess) => Promise<void>) | undefined
  /** Whether crashes, pauses, partitions and other faults happen; `true` by default. */
  readonly faults?: boolean | undefined
  /** For how long nodes work and faults happen, in milliseconds of virtual time. */
  readonly duration?: number | undefined
  /** The clock that times leases: the store's own (`server-timed`), or that of each challenger that observes a record. */
  readonly store?: 'server-timed' | 'observed' | undefined
  /** The timing of the leases. */
  readonly timeouts?: TimeoutOptions | undefined
  /** The plan of a `SimulationError`, to run it again: give it with the same `workload`. All other options are ignored. */
  readonly plan?: string | undefined
}

/** The counts of a simulation that broke no rule. */
export interface SimulationReport {
  /** How many timers and messages there were. */
  readonly steps: number
  readonly grants: number
  readonly losses: number
  /** How many writes under a fencing token the resource of the default workload accepted. */
  readonly writes: number
}

const optionNames: OptionNames<SimulationOptions> = {
  seed: true,
  nodes: true,
  workload: true,
  faults: true,
  duration: true,
  store: true,
  timeouts: true,
  plan: true,
}

const timeoutNames: OptionNames<TimeoutOptions> = {
  heartbeatInterval: true,
  heartbeatTimeout: true,
  operationTimeout: true,
  strategy: true,
  objective: true,
}

/**
 * Runs nodes with the unmodified engine over a simulated network and store, in virtual time, and checks after each step
 * that at most one of them holds the lease, and the other rules of the guarantees. Deterministic: the same seed gives the
 * same run. Rejects with a `LeaseConfigurationError` for an unknown option.
 *
 * Rejects with a `SimulationError` when a rule is broken: with the seed, the smallest plan found that breaks the rule,
 * and its timeline.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  checkOptionNames('simulate', options, optionNames)
  checkOptionNames<TimeoutOptions>('timeouts', options.timeouts ?? {}, timeoutNames)
  const { faults = true, plan, ...others } = options
  // Most tests use the other parts of this package.
  const simulator = await import('@leasehold/simulator')
  const { steps, grants, losses, writes } = await simulator.simulate({
    ...others,
    faults: faults ? undefined : [],
    plan: plan === undefined ? undefined : JSON.parse(plan),
  })
  return { steps, grants, losses, writes }
}
