import { type CasEntry, type CasRegister, casStore } from '@leasehold/core/store'
import { Semaphore } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'

/** A store that keeps no times: challengers observe its records. */
function observed(): CasRegister<number> {
  const entries = new Map<string, CasEntry<number>>()
  const write = (name: string, record: CasEntry<number>['record']) => {
    const entry = { record, version: (entries.get(name)?.version ?? 0) + 1 }
    entries.set(name, entry)
    return entry
  }
  return {
    kind: 'map',
    read: async (name) => entries.get(name),
    create: async (name, record) => (entries.has(name) ? undefined : write(name, record)),
    replace: async (name, record, version) =>
      entries.get(name)?.version === version ? write(name, record) : undefined,
  }
}

describe('a single try for a permit, over a store that cannot judge in one look', () => {
  it('says how long to wait', async () => {
    const register = observed()
    const open = (owner: string) =>
      new Semaphore(casStore(register), { name: 'pool', permits: 1, owner, heartbeatTimeout: 30_000 })
    const [holder, other] = [open('holder'), open('other')]
    const held = await holder.acquire()
    const refused = other.run(async () => {})
    await expect(refused).rejects.toMatchObject({ code: 'held', leastWait: 31_000 })
    await expect(refused).rejects.toThrow('such as wait: 31_000')
    await held?.release()
    await holder.stop()
    await other.stop()
  })
})
