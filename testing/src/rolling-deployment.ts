import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { Fleet, type FleetTask, type Holding, violations } from './fleet.js'

/** What happened in a deployment. */
export interface Deployment {
  /** Must be empty. */
  readonly violations: readonly string[]
  readonly holdings: readonly Holding[]
  /** How often old and new processes held the lock. */
  readonly heldByOld: number
  readonly heldByNew: number
}

/** The processes that contend. */
export interface Processes<T extends FleetTask> {
  /** A folder for the bundle of the program. */
  readonly folder: string
  /** The path of the program. It releases and ends on SIGTERM. */
  readonly entry: string
  readonly taskOf: (owner: string, isOld: boolean) => T
}

const PROCESSES = 5

/** A turn must come within this time, in milliseconds. */
const LONGEST = 60_000

/**
 * Five old processes and five new ones contend for one lock. Then the old ones go, one by one; every other one is killed,
 * and with it a new one, which starts again.
 */
export async function rollOut<T extends FleetTask>({ folder, entry, taskOf }: Processes<T>): Promise<Deployment> {
  const fleet = await Fleet.create<T>(folder, entry)
  const start = (owner: string) => fleet.start(taskOf(owner, owner.startsWith('old')))
  const heldBy = (prefix: string) => fleet.holdings.filter(({ owner }) => owner.startsWith(prefix)).length
  const more = async (prefix: string, wanted: number) => {
    const until = systemClock.now() + LONGEST
    for (const least = heldBy(prefix) + wanted; heldBy(prefix) < least; ) {
      if (systemClock.now() > until) throw new Error(`no ${prefix} process has held the lock for ${LONGEST} ms`)
      await sleep(10)
    }
  }
  try {
    const places = Array.from({ length: PROCESSES }, (_, place) => place)
    await Promise.all(places.map((place) => start(`old-${place}`)))
    await more('old', 2)
    await Promise.all(places.map((place) => start(`new-${place}`)))
    for (const place of places) {
      await Promise.all([more('old', 1), more('new', 1)])
      const isKilled = place % 2 === 0
      await fleet.kill(`old-${place}`, isKilled ? 'SIGKILL' : 'SIGTERM')
      if (!isKilled) continue
      await fleet.kill(`new-${place}`)
      await start(`new-${place}-again`)
    }
    await more('new', 5)
  } finally {
    await fleet.stop()
  }
  const { holdings, faults } = fleet
  return {
    violations: [...violations(holdings), ...faults],
    holdings,
    heldByOld: heldBy('old'),
    heldByNew: heldBy('new'),
  }
}
