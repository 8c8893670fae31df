import { createLease, LeaseError, type LeaseLost, LeaseLostError } from '@leasehold/core'
import { AllOf } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'

/** Operators break and delete the record of the first. */
const NAMES = ['job', 'alpha', 'beta'] as const

/** The events of one simulation, over all its processes. */
export class Happenings {
  grants = 0
  refusals = 0
  losses = 0
  /** How often a waiter was granted all leases after it had waited. */
  waits = 0
  fault: string | undefined
  /** `grants` when the last fault was over. */
  quiet: number | undefined

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }
}

/** Every process takes some of the names at a time, in any order, and works on all of them. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, owner, random, shared, signal, clock } = process
  const happenings = Happenings.of(shared)
  const { clock: own, logger } = leaseOptions
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  let isAll: () => boolean = () => false
  let names: readonly string[] = []
  let isRefused = false
  for (const name of NAMES) {
    process.show({ kind: 'work', of: name, isActive: () => names.includes(name) && isAll() })
  }
  while (!signal.aborted) {
    names = NAMES.filter(() => random.chance(0.45))
    if (names.length === 0) names = ['job']
    const parts = names.map((name) => createLease(store, name, leaseOptions))
    const whole = new AllOf(random.chance(0.5) ? parts : parts.toReversed(), { clock: own, logger })
    const losses: LeaseLost[] = []
    let isOver = false
    const onLost = (lost: LeaseLost): void => {
      losses.push(lost)
      happenings.losses += 1
      const part = lost.cause instanceof LeaseLostError ? lost.cause.leaseName : undefined
      if (losses.length > 1) happenings.fault = `${owner} was notified of a loss twice`
      if (isOver) happenings.fault = `${owner} was notified of a loss after its release`
      if (whole.checkLease()) happenings.fault = `${owner} was notified of a loss, and checkLease() is true`
      if (part === undefined || !names.includes(part)) happenings.fault = `${owner} lost a part without a name`
    }
    isAll = () => {
      const isHeld = whole.checkLease()
      const invalid = parts.find((part) => !part.checkLease())
      if (isHeld && invalid !== undefined) happenings.fault = `${owner} holds all without '${invalid.settings.name}'`
      return isHeld
    }
    const askedAt = clock.now()
    // A process that was refused waits the next time. If none waited, each could be refused, rightly, until the bound is over.
    const wait: number = isRefused ? 2 * ttl : random.pick([0, 0, ttl / 2, 2 * ttl])
    const isHeld = await whole.acquire({ wait, signal, onLost }).catch((error: unknown) => {
      if (!(error instanceof LeaseError) && !signal.aborted) throw error
      return false
    })
    if (isHeld) happenings.grants += 1
    else happenings.refusals += 1
    if (isHeld && clock.now() - askedAt > ttl / 2) happenings.waits += 1
    if (isHeld) await process.sleep(ttl * random.magnitude(-4, 0))
    isOver = true
    await whole.release().catch(() => {})
    if (parts.some((part) => part.checkLease())) happenings.fault = `${owner} still holds a part after its release`
    isRefused = !isHeld
    await process.sleep(ttl * (isRefused ? random.between(0.1, 0.8) : random.between(0.5, 1.5)))
    await Promise.allSettled(parts.map((part) => part.close()))
  }
}

/** Two processes at work on one name, or a fault that a process has noted. */
function findFault({ active, shared }: ScenarioView): string | undefined {
  for (const name of NAMES) {
    const owners = active.filter(({ of }) => of === name).map(({ owner }) => owner)
    if (owners.length > 1) return `${owners.join(' and ')} hold '${name}'`
  }
  return (shared.get('happenings') as Happenings | undefined)?.fault
}

export const scenario: Scenario = {
  workload,
  findFault,
  hasProgressed: ({ shared }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.grants
    return happenings.grants > happenings.quiet
  },
}
