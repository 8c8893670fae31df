import type { Worker } from 'node:worker_threads'
import { createLease, type LeaseStore, type StoreLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { silentLogger } from '@leasehold/testing'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { seeGrantsInThreads } from './support/granted-in-thread.js'
import { seeThreads } from './support/seen-threads.js'

/** Milliseconds; a lease is renewed within this time, unless it is released. */
const TTL = 3_000

let threads: Worker[]
let claims: ReturnType<typeof seeGrantsInThreads>

beforeEach(() => {
  threads = seeThreads()
  claims = seeGrantsInThreads()
})

afterEach(async () => {
  vi.restoreAllMocks()
  for (const thread of threads) await thread.terminate()
})

async function openStore(test: TestContext): Promise<LeaseStore> {
  const thread = new HeartbeatThread()
  test.onTestFinished(() => thread.close())
  return await claims.open(thread)
}

function leaseOver(store: LeaseStore, name = 'job'): StoreLease {
  return createLease(store, name, { heartbeatTimeout: TTL, logger: silentLogger })
}

/** Lets the posted messages go to the thread: they are sent together at the end of a turn. */
const send = async (): Promise<void> => await Promise.resolve()

const untilFree = (lease: StoreLease): Promise<boolean> =>
  vi.waitUntil(async () => (await lease.holder()) === undefined, { timeout: 2 * TTL, interval: 20 })

describe('a grant that is on its way from the thread while its caller gives up', () => {
  it('is released', async (test) => {
    const lease = leaseOver(await openStore(test))
    const giveUp = new AbortController()
    const attempt = lease.acquire({ signal: giveUp.signal }).catch((reason: unknown) => reason)
    await send()
    claims.untilGranted(0)
    giveUp.abort('given up')
    expect(await attempt).toBe('given up')
    await untilFree(lease)
    expect(lease.state).toBe('idle')
    expect(await lease.acquire()).toBe(true)
    await lease.release()
  })

  it('is released if it came after a wait', async (test) => {
    const store = await openStore(test)
    const [holder, waiter] = [leaseOver(store), leaseOver(store)]
    await holder.acquire()
    const giveUp = new AbortController()
    const wait = waiter.acquire({ wait: 60_000, signal: giveUp.signal }).catch((reason: unknown) => reason)
    // Answered after the first claim of the waiter. Its next one is sent when it is woken.
    await holder.renew()
    claims.atGrant(2, () => giveUp.abort('given up'))
    await holder.release()
    expect(await wait).toBe('given up')
    await untilFree(waiter)
  })

  it('is held for another caller that shares it', async (test) => {
    const lease = leaseOver(await openStore(test))
    const giveUp = new AbortController()
    const first = lease.acquire({ signal: giveUp.signal }).catch((reason: unknown) => reason)
    const second = lease.acquire()
    await send()
    claims.untilGranted(0)
    giveUp.abort('given up')
    expect([await first, await second]).toEqual(['given up', true])
    const token = lease.fencingToken
    expect(await lease.renew()).toBe(true)
    expect([lease.checkLease(), lease.fencingToken]).toEqual([true, token])
    await lease.release()
  })

  it('is replaced for a caller that comes after the other gave up', async (test) => {
    const lease = leaseOver(await openStore(test))
    const giveUp = new AbortController()
    const first = lease.acquire({ signal: giveUp.signal }).catch((reason: unknown) => reason)
    await send()
    claims.untilGranted(0)
    giveUp.abort('given up')
    const second = lease.acquire()
    expect([await first, await second]).toEqual(['given up', true])
    expect(await lease.renew()).toBe(true)
    expect(lease.checkLease()).toBe(true)
    await lease.release()
    await untilFree(lease)
  })
})
