import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@leasehold/core'
import type { OldRedisLibrary } from '@leasehold/redis'
import { Fleet, violations } from '@leasehold/testing/fleet'

/** The task of one process of `old-and-new.ts`. */
export interface OldAndNewTask {
  readonly port: number
  readonly owner: string
  readonly library: OldRedisLibrary
  /** Whether it uses the library; otherwise it uses a lease with `compat`. */
  readonly isOld: boolean
  /** What the library calls the lock, and the name of the lease. */
  readonly key: string
  readonly ttl: number
  /** For how long it holds, and for how long it then does not ask, in milliseconds. */
  readonly work: number
  readonly pause: number
  /** Where redis-semaphore is, if it is not among the dependencies. */
  readonly semaphorePath?: string | undefined
}

/** What happened in a deployment. */
export interface Deployment {
  /** Must be empty. */
  readonly violations: readonly string[]
  /** How often old and new processes held the lock. */
  readonly heldByOld: number
  readonly heldByNew: number
}

const PROCESSES = 5

/** A turn must come within this time, in milliseconds. */
const LONGEST = 60_000

/**
 * Five old processes and five new ones contend for one lock. Then the old ones go, one by one; every other one is killed,
 * and with it a new one, which starts again.
 */
export async function rollOut(
  folder: string,
  task: Pick<OldAndNewTask, 'port' | 'library' | 'key' | 'semaphorePath'>,
): Promise<Deployment> {
  const entry = fileURLToPath(new URL('./old-and-new.ts', import.meta.url))
  const fleet = await Fleet.create<OldAndNewTask>(folder, entry)
  const start = (owner: string) =>
    fleet.start({ ...task, owner, isOld: owner.startsWith('old'), ttl: 600, work: 5, pause: 60 })
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
  return { violations: violations(fleet.holdings), heldByOld: heldBy('old'), heldByNew: heldBy('new') }
}
