import { randomUUID } from 'node:crypto'
import { MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it, onTestFinished } from 'vitest'

async function create(store: MemoryLeaseStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) await store.acquire({ name, owner: 'o', grantId: randomUUID(), ttl: 1 })
}

async function storeWith(count: number): Promise<MemoryLeaseStore> {
  const store = new MemoryLeaseStore()
  await create(store, ...Array.from({ length: count }, (_, place) => `name ${place}`))
  return store
}

/** Lists the names of a store; `meanwhile` runs after each record. */
async function namesOf(
  store: MemoryLeaseStore,
  prefix = '',
  meanwhile: (listed: number) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of store.list(prefix)) {
    names.push(name)
    await meanwhile(names.length)
  }
  return names
}

describe('a listing', () => {
  it('yields the names with the prefix only', async () => {
    const store = new MemoryLeaseStore()
    await create(store, 'a/1', 'a', 'b/a/', 'a/2')
    expect(await namesOf(store, 'a/')).toEqual(['a/1', 'a/2'])
  })

  it('misses no name, and yields none twice, while others are deleted and created', async () => {
    const store = await storeWith(2_000)
    const listed = await namesOf(store, '', async (place) => {
      await create(store, `new ${place}`)
      for (const name of [`name ${place}`, `name ${2_000 - place}`]) {
        if (!(await store.delete(name)) || place % 2 === 0) continue
        await create(store, name)
      }
    })
    expect(new Set(listed).size).toBe(listed.length)
    for (let place = 1; place < 2_000; place += 2) expect(listed).toContain(`name ${place}`)
  })

  it('of 100,000 names lets the event loop turn after at most 250 records', async () => {
    const store = await storeWith(100_000)
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    onTestFinished(() => {
      isOver = true
    })
    setImmediate(count)
    expect(await namesOf(store)).toHaveLength(100_000)
    expect(turns).toBeGreaterThanOrEqual(400)
  })

  it('of few names takes no turn of the event loop: virtual time would pass meanwhile', async () => {
    const store = await storeWith(100)
    let turns = 0
    setImmediate(() => {
      turns += 1
    })
    expect(await namesOf(store)).toHaveLength(100)
    expect(turns).toBe(0)
  })

  it('rejects when the store is closed meanwhile', async () => {
    const store = await storeWith(10)
    const names = namesOf(store, '', async (listed) => {
      if (listed === 3) await store.close()
    })
    await expect(names).rejects.toThrow('the memory store is closed')
  })
})
