import { systemClock } from '@leasehold/core'
import { Semaphore } from '@leasehold/recipes'
import { casSubject } from '@leasehold/testing/cas-subject'
import { describe, expect, it } from 'vitest'

describe('a single try for a permit, over a store that cannot judge in one look', () => {
  it('says how long to wait', async () => {
    const backend = await casSubject.start(systemClock)
    const open = async (owner: string) => {
      const store = await backend.open(systemClock)
      return new Semaphore(store, { name: 'pool', permits: 1, owner, heartbeatTimeout: 30_000 })
    }
    const [holder, other] = [await open('holder'), await open('other')]
    const held = await holder.acquire()
    const refused = other.run(async () => {})
    await expect(refused).rejects.toMatchObject({ code: 'held', leastWait: 31_000 })
    await expect(refused).rejects.toThrow('such as wait: 31_000')
    await held?.release()
    await holder.stop()
    await other.stop()
  })
})
