import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { type Place, TTL } from '../contenders/contender.js'
import { contenders } from '../contenders/contenders.js'
import { machineTime } from '../machine-time.js'
import { type Block, block } from './block.js'

/** Locks of each library. */
export const LOCKS = 20

export interface BlockedTask {
  readonly type: 'blocked'
  readonly place: Place
  readonly by: Block
  /** For how long, in ttls. */
  readonly ttls: number
}

/** In the first instruction after the block. */
export interface Awoken {
  /** When the block ended, on the clock of the machine. */
  readonly at: number
  /** The names of the locks that are held as their library says. */
  readonly believed: readonly string[]
}

/** The names of the locks of one library. */
export function namesOf({ by, ttls }: Omit<BlockedTask, 'type' | 'place'>, contender: string): readonly string[] {
  const block = `${by} ${ttls}`.replaceAll(/\W+/g, '-')
  return Array.from({ length: LOCKS }, (_, lock) => `${contender}-${block}-${lock}`.replaceAll(/[@/ ]/g, ''))
}

/**
 * In a process of its own: holds the locks of all libraries, reports it, blocks the event loop when it is asked to, and
 * reports what the libraries say afterwards. It ends with its parent.
 */
export async function holdAndBlock(task: BlockedTask): Promise<void> {
  const { place, by, ttls } = task
  const held = contenders().map(async (contender) => {
    const holder = await contender.open(place, { role: 'holder' })
    const locks = []
    for (const name of namesOf(task, contender.id)) {
      const { views } = await holder.hold(name)
      locks.push({ name, views })
      // So that the renewals are spread over the ttl, and the block meets each of them at another point.
      await pause(TTL / LOCKS)
    }
    return locks
  })
  const locks = (await Promise.all(held)).flat()
  process.send?.('held')
  await once(process, 'message')
  block(by, ttls * TTL, place.folder)
  const believed = locks.filter(({ views }) => views.every(({ believes }) => believes())).map(({ name }) => name)
  process.send?.({ at: machineTime(), believed } satisfies Awoken)
  await once(process, 'disconnect')
}
