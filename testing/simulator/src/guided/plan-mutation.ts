import type { Random } from '../../../../packages/testkit/src/random.js'
import type { SimulationPlan } from '../plan.js'
import type { PlannedFault } from '../planned-fault.js'

/** A plan of an earlier run, and the instants at which that run reached new states. */
export interface KnownPlan {
  readonly plan: SimulationPlan
  readonly newAt: readonly number[]
}

/** As in drawn plans, so that a run does not become one long fault. */
const MOST_FAULTS = 16

/**
 * Changes the faults of a plan in one to four places: a fault is moved, added, removed, lengthened or shortened, or the rest of
 * the faults comes from another plan. Faults often move to an instant at which the earlier run reached a new state. `seed`: in
 * one case of three the work of the nodes is drawn from it, instead of the seed of the plan.
 */
export function mutatePlan(known: KnownPlan, other: KnownPlan, seed: number, random: Random): SimulationPlan {
  let { faults } = known.plan
  for (let changes = random.whole(1, 4); changes > 0; changes -= 1) faults = changed(faults, known, other, random)
  const own = random.chance(1 / 3) ? { seed } : {}
  return { ...known.plan, ...own, faults: faults.toSorted((one, another) => one.at - another.at) }
}

function changed(
  faults: readonly PlannedFault[],
  known: KnownPlan,
  other: KnownPlan,
  random: Random,
): readonly PlannedFault[] {
  const [first, ...rest] = other.plan.faults
  const place = random.whole(0, Math.max(faults.length - 1, 0))
  const fault = faults[place]
  switch (random.whole(0, 5)) {
    case 0:
    case 1:
      return fault === undefined ? faults : faults.with(place, moved(fault, known, random))
    case 2:
      return fault === undefined ? faults : faults.with(place, resized(fault, known.plan, random))
    case 3:
      return faults.length < 2 ? faults : faults.toSpliced(place, 1)
    case 4: {
      if (first === undefined || faults.length >= MOST_FAULTS) return faults
      const node = random.whole(0, known.plan.machines.length - 1)
      return [...faults, moved(onNode(random.pick([first, ...rest]), node), known, random)]
    }
    default:
      return spliced(faults, known.plan, other.plan, random)
  }
}

/** Moves a fault to any instant, or to one just before a new state was reached. */
function moved(fault: PlannedFault, { plan, newAt }: KnownPlan, random: Random): PlannedFault {
  const [first, ...rest] = newAt
  const anywhere = random.between(0, plan.duration)
  const before = plan.timeouts.operationTimeout * random.magnitude(-6, 0)
  const isNear = first !== undefined && random.chance(0.7)
  const at = isNear ? Math.max(random.pick([first, ...rest]) - before, 0) : anywhere
  return within({ ...fault, at: Math.min(at, plan.duration) }, plan)
}

function resized(fault: PlannedFault, plan: SimulationPlan, random: Random): PlannedFault {
  const by = random.magnitude(-3, 3)
  return 'for' in fault ? within({ ...fault, for: fault.for * by }, plan) : fault
}

/** The faults of one plan up to an instant, and those of another plan after it. */
function spliced(
  faults: readonly PlannedFault[],
  plan: SimulationPlan,
  other: SimulationPlan,
  random: Random,
): readonly PlannedFault[] {
  const part = random.next()
  const stretch = plan.duration / other.duration
  const later = other.faults
    .filter(({ at }) => at >= part * other.duration)
    .map((fault) => {
      const at = fault.at * stretch
      const node = 'node' in fault ? fault.node % plan.machines.length : 0
      return within(onNode({ ...fault, at }, node), plan)
    })
  return [...faults.filter(({ at }) => at < part * plan.duration), ...later].slice(0, MOST_FAULTS)
}

function onNode(fault: PlannedFault, node: number): PlannedFault {
  return 'node' in fault ? { ...fault, node } : fault
}

/** A fault ends with the plan at the latest. */
function within(fault: PlannedFault, { duration }: SimulationPlan): PlannedFault {
  return 'for' in fault ? { ...fault, for: Math.min(fault.for, duration - fault.at) } : fault
}
