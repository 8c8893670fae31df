import type { Worker } from 'node:worker_threads'
import { LeaseConfigurationError, LeaseProvider, memoryLease, StoreLease, systemClock } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { block } from './support/block.js'
import { seeThreads } from './support/seen-threads.js'

const module = new URL('support/faulty-lease.ts', import.meta.url).pathname

let threads: Worker[]

beforeEach(() => {
  threads = seeThreads()
})

afterEach(async () => {
  vi.restoreAllMocks()
  for (const thread of threads) await thread.terminate()
})

function provide(test: TestContext, block: object, clock = systemClock): LeaseProvider {
  const lease = { 'lease-class': `${module}#faultyLease`, 'heartbeat-timeout': '2s', ...block }
  const provider = new LeaseProvider(
    { leasehold: { lease: {} }, jobs: lease },
    { memory: memoryLease },
    { logger: silentLogger, clock },
  )
  test.onTestFinished(() => provider.close())
  return provider
}

describe('heartbeat-thread in a configuration', () => {
  it.for(['on', true])('%s: has the heartbeats of its leases sent by one thread', async (word, test) => {
    const provider = provide(test, { 'heartbeat-thread': word, 'unresponsive-after': '30s' })
    const [one, two] = await Promise.all([provider.getLease('one', 'jobs'), provider.getLease('two', 'jobs')])
    expect(one).toBeInstanceOf(StoreLease)
    expect(one.settings.unresponsiveAfter).toBe(30_000)
    expect(await Promise.all([one.acquire(), two.acquire()])).toEqual([true, true])
    expect(threads).toHaveLength(1)
    block(4_000)
    expect([one.checkLease(), two.checkLease()]).toEqual([true, true])
    const { store } = await provider.getStore('one', 'jobs')
    expect((one as StoreLease).store).toBe(store)
    await provider.close()
    expect(one.checkLease()).toBe(false)
  })

  it.for(['off', false, '', undefined])('%j: starts no thread', async (word, test) => {
    const provider = provide(test, { 'heartbeat-thread': word })
    await (await provider.getLease('one', 'jobs')).acquire()
    expect(threads).toHaveLength(0)
  })

  it.for([
    [{ 'heartbeat-thread': 'perhaps' }, "heartbeat-thread of 'jobs' must be on or off, not perhaps"],
    [{ 'lease-class': 'memory' }, 'needs a lease-class that names a module, because a function cannot be passed'],
    [{ 'lease-class': memoryLease }, 'needs a lease-class that names a module'],
    [{ client: () => {} }, "the options of 'jobs' cannot be passed to a heartbeat thread"],
    [{ strategy: { name: 'own', check: () => undefined, plan: () => ({}) } }, 'cannot be passed to a heartbeat thread'],
    [{ 'lease-class': `${module}#ownLease` }, 'makes leases of a class of its own'],
    [{ 'heartbeat-thread': 'off', 'unresponsive-after': '5s' }, 'unresponsiveAfter is for leases'],
    [{ 'unresponsive-after': '5ms' }, 'unresponsiveAfter must be at least 100 ms'],
  ] as const)('%j is an error that says what to do', async ([block, message], test) => {
    const lease = provide(test, { 'heartbeat-thread': 'on', ...block }).getLease('one', 'jobs')
    await expect(lease).rejects.toThrow(LeaseConfigurationError)
    await expect(lease).rejects.toThrow(message)
  })

  it('is an error with a clock of the user', async (test) => {
    const provider = provide(test, { 'heartbeat-thread': 'on' }, new VirtualClock())
    await expect(provider.getLease('one', 'jobs')).rejects.toThrow('leave out clock and random')
  })
})
