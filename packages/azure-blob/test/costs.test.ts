import { setTimeout as pause } from 'node:timers/promises'
import { akkaBlobStore } from '@leasehold/azure-blob'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'
import { Proxied, times } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** How many requests the operations took. */
async function countOf({ proxy }: Proxied, operations: () => Promise<unknown>): Promise<number> {
  const before = proxy.requests.length
  await operations()
  return proxy.requests.length - before
}

describe.concurrent('the transactions of the service', () => {
  it('is 3 for a grant, 1 for a heartbeat, 1 for a release', async (test) => {
    const proxied = await Proxied.held(test, azurite)
    await proxied.lease.release()
    expect(await countOf(proxied, () => proxied.lease.acquire())).toBe(3)
    const grant = await proxied.outside.read(proxied.name, never)
    expect(
      await countOf(proxied, () => proxied.store.renew({ ...claimOf(''), fencingToken: 0n, ...grant }, never)),
    ).toBe(1)
    expect(await countOf(proxied, () => proxied.lease.release())).toBe(1)
  })

  it('is 4 for the first grant of a name, and 2 more where the container is missing', async (test) => {
    const proxied = await Proxied.open(test, azurite)
    expect(await countOf(proxied, () => granted(proxied.store, 'first'))).toBeLessThanOrEqual(7)
    expect(await countOf(proxied, () => granted(proxied.store, 'second'))).toBe(4)
  })

  it('is 2 for a refusal, and for a release that comes too late', async (test) => {
    const proxied = await Proxied.open(test, azurite)
    const grant = await granted(proxied.outside, proxied.name)
    expect(await countOf(proxied, () => proxied.store.acquire(claimOf(proxied.name), never))).toBe(2)
    await proxied.outside.break(proxied.name, { period: 0 }, never)
    await granted(proxied.outside, proxied.name)
    expect(await countOf(proxied, () => proxied.store.release(grant, never))).toBe(2)
  })

  it('is one for each heartbeat interval while a lease is held, and nothing beside', {
    timeout: 60_000,
  }, async (test) => {
    const held = await Proxied.held(test, azurite)
    const intervals = 6
    const count = await countOf(held, () => pause(intervals * times.heartbeatInterval))
    // Jitter moves heartbeats, and makes intervals rather shorter.
    expect(count).toBeGreaterThanOrEqual(intervals - 1)
    expect(count).toBeLessThanOrEqual(intervals * 1.5)
    expect(held.proxy.requests.slice(-count).every(({ leaseAction }) => leaseAction === 'renew')).toBe(true)
  })

  it("is 2 for a grant, 1 for a heartbeat and 1 for a release with Akka's layout", async (test) => {
    const proxied = await Proxied.open(test, azurite)
    const store = akkaBlobStore(azurite.service(undefined, proxied.proxy.port).getContainerClient('akka'))
    await store.release(await granted(store, 'job'), never)
    let grant = claimOf('job') as unknown as Awaited<ReturnType<typeof granted>>
    const counts = [
      await countOf(proxied, async () => {
        grant = await granted(store, 'job')
      }),
      await countOf(proxied, () => store.renew(grant, never)),
      await countOf(proxied, () => store.release(grant, never)),
    ]
    expect(counts).toEqual([2, 1, 1])
  })
})
