import type { EntityState } from '@leasehold/sharding'
import { stateLaws } from '@leasehold/sharding/testing'
import { describe, it } from 'vitest'

/** A kind of state. */
export interface StateSubject {
  readonly name: string
  /** Returns what opens the states of one law: over a new place, each with a client of its own. */
  start(): { open(): EntityState | Promise<EntityState>; stop?(): unknown }
}

/** A test for each law of states. */
export function describeStateLaws({ name, start }: StateSubject): void {
  describe(`${name} keeps the law of states`, () => {
    for (const { title, check } of stateLaws) {
      it(title, async () => {
        const opened: EntityState[] = []
        const { open, stop } = start()
        try {
          await check(async () => {
            const state = await open()
            opened.push(state)
            return state
          })
        } finally {
          for (const state of opened) await state.close?.()
          await stop?.()
        }
      })
    }
  })
}
