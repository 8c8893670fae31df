import { randomUUID } from 'node:crypto'
import { VirtualClock } from '@leasehold/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, listed, never, TTL } from './support/claims.js'
import { TableServer } from './support/table-server.js'

let server: TableServer

beforeAll(async () => {
  server = await TableServer.start()
})

afterAll(() => server.stop())

/** Two stores on a table of their own, the second as another process has it, and a count of the requests to it. */
async function scene() {
  const table = await server.table()
  const clock = new VirtualClock()
  const options = { table, clock, probe: false }
  return {
    name: randomUUID(),
    clock,
    store: server.store(options),
    other: server.store(options),
    countOf: (work: () => Promise<unknown>) => server.countOf(table, work),
  }
}

describe.concurrent('the requests of', () => {
  it('a grant: a read and a write; for the first one of a name, one more write', async () => {
    const { name, store, countOf } = await scene()
    const first = await countOf(async () => {
      await store.release(await granted(store, name), never)
    })
    expect(first).toEqual({ GetItem: 1, PutItem: 3 })
    expect(await countOf(() => granted(store, name))).toEqual({ GetItem: 1, PutItem: 1 })
  })

  it('a heartbeat, an update and a release: one write', async () => {
    const { name, store, countOf } = await scene()
    const grant = await granted(store, name)
    expect(await countOf(() => store.renew(grant, never))).toEqual({ PutItem: 1 })
    expect(await countOf(() => store.update(grant, { a: 'b' }, never))).toEqual({ PutItem: 1 })
    expect(await countOf(() => store.release(grant, never))).toEqual({ PutItem: 1 })
  })

  it('a refusal: a read; the first one of a process marks the item', async () => {
    const { name, store, other, countOf } = await scene()
    await granted(store, name)
    const refused = async () => expect(await other.acquire(claimOf(name), never)).toMatchObject({ granted: false })
    expect(await countOf(refused)).toEqual({ GetItem: 1, UpdateItem: 1 })
    expect(await countOf(refused)).toEqual({ GetItem: 1 })
  })

  it('a heartbeat that comes too late: one write, whose refusal brings the item', async () => {
    const { name, clock, store, other, countOf } = await scene()
    const grant = await granted(store, name)
    await other.read(name, never)
    await clock.advance(TTL * 1.1)
    const successor = await granted(other, name)
    expect(
      await countOf(async () =>
        expect(await store.renew(grant, never)).toMatchObject({
          renewed: false,
          reason: 'taken',
          holder: { grantId: successor.grantId },
        }),
      ),
    ).toEqual({ PutItem: 1 })
  })

  it('a look at the holder: a read; a listing: an eventually consistent scan', async () => {
    const { name, store, countOf } = await scene()
    await granted(store, name)
    const before = server.requests.length
    expect(await countOf(() => store.read(name, never))).toEqual({ GetItem: 1 })
    expect(await countOf(async () => expect(await listed(store)).toEqual([name]))).toEqual({ Scan: 1 })
    const seen = server.requests.slice(before).filter(({ action }) => action === 'GetItem')
    expect(seen.every(({ input }) => input.ConsistentRead === true)).toBe(true)
  })

  it('the check before the first grant', async () => {
    const table = await server.table()
    const checked = await server.countOf(table, () => server.store({ table }).probe(never))
    expect(checked).toEqual({ DescribeTable: 1, DescribeTimeToLive: 1, GetItem: 3, PutItem: 4 })
  })
})

it('a heartbeat is one unit of 1 KB: the item is smaller, without metadata', async () => {
  const { name, store } = await scene()
  const before = server.requests.length
  const grant = await granted(store, name, { owner: `${'host-name'.repeat(3)}-12345-${'x'.repeat(10)}` })
  await store.renew(grant, never)
  const item = server.requests.slice(before).findLast(({ action }) => action === 'PutItem')?.input.Item
  expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThan(1_024)
})
