import { setTimeout as pause } from 'node:timers/promises'
import { machineTime } from '../../support/machine.js'
import { type Place, TTL } from '../contenders/contender.js'
import { contendersInChild } from '../contenders/contenders.js'
import { type Block, block } from './block.js'

/** Locks of each library. */
export const LOCKS = 20

export interface BlockedTask {
  readonly place: Place
  readonly by: Block
  /** For how long, in ttls. */
  readonly ttls: number
}

/** In the first instruction after the block. */
interface Awoken {
  /** When the block ended, on the clock of the machine. */
  readonly at: number
  /** The names of the locks that are held as their library says. */
  readonly believed: readonly string[]
}

/** The names of the locks of one library. */
export function namesOf({ by, ttls }: Omit<BlockedTask, 'place'>, contender: string): readonly string[] {
  const block = `${by} ${ttls}`.replaceAll(/\W+/g, '-')
  return Array.from({ length: LOCKS }, (_, lock) => `${contender}-${block}-${lock}`.replaceAll(/[@/ ]/g, ''))
}

/** In a process of its own: holds the locks of all libraries, and blocks the event loop when it is asked to. */
export async function openBlocked(task: BlockedTask) {
  const { place, by, ttls } = task
  const held = contendersInChild().map(async (contender) => {
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
  return {
    /** Resolves with what the libraries say in the first instruction after the block. */
    block: (): Awoken => {
      block(by, ttls * TTL, place.folder)
      const believed = locks.filter(({ views }) => views.every(({ believes }) => believes())).map(({ name }) => name)
      return { at: machineTime(), believed }
    },
  }
}
