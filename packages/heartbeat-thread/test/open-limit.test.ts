import { randomUUID } from 'node:crypto'
import { BroadcastChannel, type Worker } from 'node:worker_threads'
import { createLease, LeaseConfigurationError, LeaseTimeoutError, systemClock } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { silentLogger } from '@leasehold/testing'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { seeThreads } from './support/seen-threads.js'

const gated = `${new URL('support/gated-lease.ts', import.meta.url).pathname}#gatedLease`

/** Milliseconds. No other timer has this delay, and the tests let it pass by hand. */
const TIMEOUT = 31_234

let threads: Worker[]
let limits: (() => void)[]

beforeEach(() => {
  threads = seeThreads()
  limits = []
  const { schedule } = systemClock
  vi.spyOn(systemClock, 'schedule').mockImplementation((delay, task) => {
    if (delay !== TIMEOUT) return schedule(delay, task)
    limits.push(task)
    return () => void limits.splice(limits.indexOf(task), 1)
  })
})

afterEach(async () => {
  vi.restoreAllMocks()
  for (const thread of threads) await thread.terminate()
})

/** A thread, and the channel to a store in it that opens when it is told to. */
function setUp(test: TestContext) {
  const thread = new HeartbeatThread()
  test.onTestFinished(() => thread.close())
  const channel = new BroadcastChannel(randomUUID())
  test.onTestFinished(() => channel.close())
  const said: unknown[] = []
  channel.onmessage = ({ data }: { data: unknown }) => void said.push(data)
  const open = async () => {
    const options = { channel: channel.name }
    return await thread.open({ leaseClass: gated, options, timeout: TIMEOUT, leaseName: 'job' })
  }
  const until = (word: string): Promise<unknown> => vi.waitUntil(() => said.at(-1) === word, 60_000)
  return { open, until, tell: (word: string) => channel.postMessage(word) }
}

describe('a thread that does not open a store in time', () => {
  it('is a LeaseTimeoutError, and the store is closed if it opens later', async (test) => {
    const { open, until, tell } = setUp(test)
    const opened = open().catch((error: unknown) => error)
    await until('asked')
    for (const pass of limits) pass()
    const error = await opened
    expect(error).toBeInstanceOf(LeaseTimeoutError)
    expect(error).toMatchObject({ leaseName: 'job', message: expect.stringContaining(`within ${TIMEOUT} ms`) })
    tell('open')
    await until('closed')
  })

  it('fails the claims for which it was opened again', async (test) => {
    const { open, until, tell } = setUp(test)
    const opened = open()
    await until('asked')
    tell('open')
    const lease = createLease(await opened, 'job', { logger: silentLogger })
    expect(limits).toEqual([])
    await threads[0]?.terminate()
    const attempt = lease.acquire().catch((error: unknown) => error)
    await vi.waitUntil(() => limits.length > 0, 60_000)
    limits[0]?.()
    expect(await attempt).toBeInstanceOf(LeaseTimeoutError)
    expect(lease.state).toBe('idle')
  })

  it('cannot be given no time at all', async (test) => {
    const thread = new HeartbeatThread()
    test.onTestFinished(() => thread.close())
    const opened = thread.open({ leaseClass: gated, timeout: 0 })
    await expect(opened).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(opened).rejects.toThrow(
      'timeout of HeartbeatThread.open must be a positive number of milliseconds, or Infinity, not 0',
    )
  })
})
