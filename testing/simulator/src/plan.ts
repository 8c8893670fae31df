import type { RenewAt, RenewalTimes, TimeoutOptions } from '@leasehold/core'
import { Random } from '../../../packages/testkit/src/random.js'
import { type FaultKind, faultKinds, nonsenseKinds, type PlannedFault, type UserPart } from './planned-fault.js'
import type { Scenario, Workload } from './workload.js'

const HOUR = 3_600_000

/**
 * How much the clock of each machine may run fast or slow: half of the drift that a lease allows, since the drifts of a holder
 * and of the clock that times its lease add up.
 */
const LARGEST_DRIFT = 0.005

/** Streams of the seed: the draws of one stream do not shift the others. */
const streams = { settings: 1, clocks: 2, faults: 3, times: 4 }

export interface MachinePlan {
  /** By how much its clocks run fast, such as 0.005. */
  readonly drift: number
  /** By how much its wall clock is ahead, in milliseconds. */
  readonly skew: number
}

/** The clock that times leases: the store's own, or that of each challenger that observes a compare-and-set register. */
export type SimulatedStoreKind = 'server-timed' | 'observed'

/** The times that an observed store keeps of its records: those of writes, or marks of challengers. */
type SimulatedTimes = 'written' | 'marks'

/** The timing of the leases of a run, in milliseconds. */
export type PlannedTimeouts = TimeoutOptions & RenewalTimes

/** A whole simulation. It is drawn from the seed, and can be stored, made smaller and run again. */
export interface SimulationPlan {
  readonly seed: number
  readonly store: SimulatedStoreKind
  /** `undefined`: none. */
  readonly times?: SimulatedTimes | undefined
  /** One for each node. */
  readonly machines: readonly MachinePlan[]
  readonly server: MachinePlan
  readonly timeouts: PlannedTimeouts
  /** `undefined`: no limit. */
  readonly maxHold?: number | undefined
  /** Whether the store renews many leases at once. */
  readonly batched: boolean
  /** Whether the store notifies waiters of their turn. */
  readonly watched: boolean
  /** Whether the client ends a request when its call is aborted. If not, late answers arrive. */
  readonly cancels: boolean
  /** For how long nodes work and faults happen, in milliseconds. */
  readonly duration: number
  readonly faults: readonly PlannedFault[]
}

export interface SimulationOptions {
  /** Any whole number. Options that are not given are drawn from it. The same seed gives the same history. */
  readonly seed: number
  /** How many nodes contend; 2 to 5 unless given. */
  readonly nodes?: number | undefined
  /**
   * The work of each process, or a scenario: a workload with rules of its own. By default it claims, holds and releases
   * the lease in every possible way.
   */
  readonly workload?: Workload | Scenario | undefined
  /** The kinds of faults that may happen (all by default), or the exact faults with their times. */
  readonly faults?: readonly FaultKind[] | readonly PlannedFault[] | undefined
  /** For how long nodes work and faults happen, in milliseconds of virtual time. */
  readonly duration?: number | undefined
  /** The kind of store. */
  readonly store?: SimulatedStoreKind | undefined
  /** The times that an observed store keeps; none unless given. `drawn`: one of the kinds. */
  readonly times?: SimulatedTimes | 'drawn' | undefined
  /** The timing of the leases. */
  readonly timeouts?: TimeoutOptions | undefined
  /** A whole plan, as a failing simulation prints it. Only `workload` is then read besides. */
  readonly plan?: SimulationPlan | undefined
}

/** The parts of a plan that are given rather than drawn. */
export type PlanWishes = Omit<SimulationOptions, 'workload' | 'plan'>

export function createPlan(wishes: PlanWishes): SimulationPlan {
  const { seed } = wishes
  const root = new Random(seed)
  const settings = root.fork(streams.settings)
  const clocks = root.fork(streams.clocks)
  const timeouts = drawTimeouts(settings, wishes.timeouts)
  const ttl = timeouts.heartbeatTimeout
  const { nodes, ...drawn } = {
    store: settings.pick<SimulatedStoreKind>(['server-timed', 'observed']),
    nodes: settings.whole(2, 5),
    maxHold: settings.chance(0.2) ? ttl * settings.between(1, 4) : undefined,
    batched: settings.chance(0.5),
    watched: settings.chance(0.6),
    cancels: settings.chance(0.7),
    duration: ttl * settings.between(6, 16),
  }
  const plan = {
    seed,
    ...drawn,
    store: wishes.store ?? drawn.store,
    ...timesOf(wishes, root.fork(streams.times)),
    machines: Array.from({ length: wishes.nodes ?? nodes }, () => drawMachine(clocks, HOUR)),
    // The tokens of forgotten names start from the store's own wall clock, which is not stepped.
    server: drawMachine(clocks, 0),
    timeouts,
    duration: wishes.duration ?? drawn.duration,
  }
  return { ...plan, faults: planFaults(root.fork(streams.faults), wishes.faults ?? faultKinds, plan) }
}

/** Nothing unless they are wanted: the plans of other runs stay as they are. */
function timesOf({ times }: PlanWishes, random: Random): Pick<SimulationPlan, 'times'> {
  if (times === undefined) return {}
  return { times: times === 'drawn' ? random.pick<SimulatedTimes>(['written', 'marks']) : times }
}

function drawMachine(random: Random, largestSkew: number): MachinePlan {
  // Faults are most likely at the limits.
  const drift = random.pick([LARGEST_DRIFT, -LARGEST_DRIFT, random.between(-LARGEST_DRIFT, LARGEST_DRIFT)])
  return { drift, skew: random.between(-largestSkew, largestSkew) }
}

function drawTimeouts(random: Random, given: TimeoutOptions | undefined): PlannedTimeouts {
  const heartbeatTimeout = given?.heartbeatTimeout ?? random.pick([1_000, 3_000, 10_000, 30_000])
  const operationTimeout = given?.operationTimeout ?? heartbeatTimeout * random.between(0.03, 0.2)
  // Drawn below the largest that the rule of the settings admits.
  const largest = (heartbeatTimeout - operationTimeout) / 3
  const heartbeatInterval = given?.heartbeatInterval ?? largest * random.between(0.3, 0.95)
  const drawn = random.pick<NonNullable<TimeoutOptions['strategy']>>([
    'interval',
    'interval',
    'eager',
    'lazy',
    'adaptive',
  ])
  // From a stream of its own: the other draws of a seed stay the same.
  const others = random.fork(1)
  const other = others.pick<'manual' | RenewAt>([{ renewAt: others.between(0.1, 0.5) }, 'manual'])
  const strategy = given?.strategy ?? (others.chance(0.2) ? other : drawn)
  return { heartbeatTimeout, operationTimeout, heartbeatInterval, strategy }
}

type FaultlessPlan = Omit<SimulationPlan, 'faults'>

function planFaults(
  random: Random,
  wished: readonly FaultKind[] | readonly PlannedFault[],
  plan: FaultlessPlan,
): readonly PlannedFault[] {
  if (typeof wished[0] === 'object') return wished as readonly PlannedFault[]
  const kinds = wished as readonly FaultKind[]
  // Some simulations have no faults: there, no lease may be lost.
  if (random.chance(0.05)) return []
  // Few kinds in each simulation, and many of each: combinations that are rare overall are then frequent in some.
  const few = kinds.filter(() => random.chance(0.4))
  const [first, ...others] = few.length > 0 ? few : kinds
  if (first === undefined) return []
  const longest = random.between(-1, 2)
  const faults = Array.from({ length: random.whole(1, 16) }, () =>
    drawFault(random, random.pick([first, ...others]), plan, longest),
  )
  return faults.sort((one, other) => one.at - other.at)
}

/** `longest`: of the lengths of faults, as a power of two of the ttl. */
function drawFault(random: Random, kind: FaultKind, plan: FaultlessPlan, longest: number): PlannedFault {
  const { duration, machines, timeouts } = plan
  const ttl = timeouts.heartbeatTimeout
  const at = random.between(0, duration)
  // Evenly over the orders of magnitude: some are short, some longer than a ttl.
  const length = ttl * random.magnitude(longest - 5, longest)
  // About as long as the operation timeout: some answers arrive in time, some too late.
  const late = timeouts.operationTimeout * random.magnitude(-2, 3)
  const span = { at, for: Math.min(length, duration - at) }
  const node = random.whole(0, machines.length - 1)
  switch (kind) {
    case 'partition':
      return { kind, ...span, node, direction: random.pick(['both', 'to-store', 'from-store']) }
    case 'fading':
      return { kind, at, for: Math.min(ttl * random.between(1, 5), duration - at), node, longest: late }
    case 'loss':
      return { kind, ...span, probability: random.between(0.05, 0.7) }
    case 'delay':
      return { kind, ...span, longest: late }
    case 'duplication':
      return { kind, ...span, probability: random.between(0.05, 0.7), longest: late }
    case 'store-restart':
      return { kind, ...span }
    case 'wall-step':
      return { kind, at, node, by: random.between(-HOUR, HOUR) }
    case 'break':
    case 'forget':
      return { kind, at }
    case 'user-code': {
      const part = random.pick<UserPart>(['strategy', 'strategy', 'random', 'logger', 'callback'])
      return { kind, ...span, node, part, does: random.pick(['throws', 'nonsense']) }
    }
    case 'nonsense':
      // Often all answers: one valid answer would make up for the invalid ones before it.
      return {
        kind,
        ...span,
        node,
        answer: random.pick(nonsenseKinds),
        probability: random.pick([1, random.between(0.05, 1)]),
      }
    default:
      return { kind, ...span, node }
  }
}
