import { breakLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { FailedJobsError, LeaseManager } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { type Fault, type FaultPlan, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

function managerOver(options: object = {}) {
  const clock = new VirtualClock()
  const faults: { next: Fault | undefined } = { next: undefined }
  const calls: string[] = []
  const plan: FaultPlan = ({ operation }) => {
    calls.push(operation)
    return faults.next
  }
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan })
  const settings = { heartbeatTimeout: 10_000, clock, logger: silentLogger, ...options }
  return { clock, store, faults, calls, manager: new LeaseManager(store, settings) }
}

async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  await clock.advance(1_000)
  return await promise
}

const nothing = async (): Promise<void> => {}

describe('a LeaseManager', () => {
  it.each([0, 1.5, Number.NaN, '2'])('refuses the concurrency %s', async (concurrency) => {
    expect(() => managerOver({ concurrency })).toThrow(/concurrency must be a whole number from 1 on/)
    const { manager } = managerOver()
    const given = { concurrency: concurrency as number }
    await expect(manager.processEach(['a'], nothing, given)).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('has its name at the beginning of the names of its leases', async () => {
    const { manager, clock } = managerOver({ name: 'tenants', owner: 'me' })
    const lease = await settled(clock, manager.acquireWithAutoRenew('a'))
    expect(lease?.settings).toMatchObject({ name: 'tenants/a', owner: 'me' })
    expect([manager.names, manager.get('a'), manager.get('b')]).toEqual([['a'], lease, undefined])
  })

  it('takes an owner and a ttl for one lease, and derives the rest from them', async () => {
    const { manager, clock } = managerOver({ name: 'tenants', owner: 'me' })
    const own = { owner: 'tenant 7', heartbeatTimeout: 60_000 }
    const [lease, usual] = await settled(
      clock,
      Promise.all([manager.acquireWithAutoRenew('a', own), manager.claimFirst(['b'])]),
    )
    expect(lease?.settings).toMatchObject({ name: 'tenants/a', owner: 'tenant 7' })
    expect(lease?.settings.timeouts.heartbeatTimeout).toBe(60_000)
    expect(usual?.settings.owner).toBe('me')
    expect(lease?.settings.timeouts.heartbeatInterval).toBe(6_000)
    expect(manager.names).toEqual(['a', 'b'])
    await expect(manager.acquireWithAutoRenew('a')).resolves.toBe(lease)
    const other = manager.acquireWithAutoRenew('a', { owner: 'tenant 8' })
    await expect(other).rejects.toThrow(/lease 'tenants\/a' is in use here already, with owner 'tenant 7'/)
    await expect(manager.acquireWithAutoRenew('a', { heartbeatTimeout: 5_000 })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await settled(clock, manager.release('a'))).toBe(true)
    expect((await settled(clock, manager.acquireWithAutoRenew('a')))?.settings.owner).toBe('me')
  })

  it('sends nothing for an owner or a ttl that is not valid', async () => {
    const { manager, calls } = managerOver()
    for (const own of [
      { owner: '' },
      { owner: 7 as never },
      { heartbeatTimeout: -1 },
      { heartbeatTimeout: 'x' as never },
    ]) {
      await expect(manager.acquireWithAutoRenew('a', own)).rejects.toMatchObject({
        name: /Lease(Configuration|Name)Error/,
      })
    }
    expect(calls).toEqual([])
  })

  it('asks for no more names at the same time than its concurrency', async () => {
    const { manager, clock, faults, calls } = managerOver({ concurrency: 3 })
    faults.next = { kind: 'delay', duration: 10 }
    const all = Promise.all(Array.from({ length: 20 }, (_, name) => manager.acquireWithAutoRenew(`${name}`)))
    await clock.advance(5)
    expect(calls.length).toBe(3)
    await clock.advance(10)
    expect(calls.length).toBe(6)
    await clock.advance(1_000)
    await all
    expect(manager.names.length).toBe(20)
  })

  it('keeps no lease, and no timer, once all were released', async () => {
    const { manager, clock } = managerOver()
    await settled(clock, manager.claimFirst(['a', 'b']))
    expect(await settled(clock, manager.release('a'))).toBe(true)
    expect(await manager.release('a')).toBe(true)
    expect([manager.names, clock.pending]).toEqual([[], 0])
    await manager.stop()
    await manager.stop()
  })

  it('rejects a stop() with a wrong argument, which releases nothing; a later close() does', async () => {
    const { manager, clock } = managerOver()
    const lease = await settled(clock, manager.acquireWithAutoRenew('a'))
    await expect(manager.stop({ wait: 5 } as object)).rejects.toThrow("stop has no option 'wait'")
    await expect(manager.stop({ timeout: Number.NaN })).rejects.toThrow(/timeout must be 0 or more milliseconds/)
    expect([lease?.checkLease(), manager.names]).toEqual([true, ['a']])
    expect(await settled(clock, manager.claimFirst(['b']))).toBeDefined()
    await settled(clock, manager.stop({ timeout: Number.POSITIVE_INFINITY }))
    expect([lease?.checkLease(), manager.names, clock.pending]).toEqual([false, [], 0])
    await expect(manager.stop({ timeout: -1 })).rejects.toThrow(LeaseConfigurationError)
    await manager.stop()
  })

  it('breaks the lease of a holder, if preempt says so', async () => {
    const { manager, store, clock } = managerOver()
    const other = new LeaseManager(store, { heartbeatTimeout: 10_000, clock, logger: silentLogger })
    await settled(clock, other.acquireWithAutoRenew('a'))
    const preempt = { period: 4_000, when: () => true }
    const waiting = manager.acquireWithAutoRenew('a', { wait: 60_000, preempt })
    await clock.advance(30_000)
    expect((await waiting)?.checkLease()).toBe(true)
  })

  it('reports the error of a listener, and calls the others', async () => {
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: (_: string, error: unknown) => errors.push(error) }
    const { manager, clock } = managerOver({ logger })
    const lost: string[] = []
    const fails = (): void => {
      throw new Error('of the listener')
    }
    manager.on('lost', fails).on('lost', (name, { reason }) => lost.push(`${name} ${reason}`))
    const lease = await settled(clock, manager.acquireWithAutoRenew('a'))
    await lease?.close()
    await Promise.resolve()
    expect([lost, errors]).toEqual([['a closed'], [new Error('of the listener')]])
    manager.off('lost', fails)
  })
})

describe('processEach', () => {
  it('takes jobs of any type, by their keys', async () => {
    const { manager, clock } = managerOver()
    const did: number[] = []
    const jobs = [{ id: 1 }, { id: 2 }]
    const processed = manager.processEach(jobs, async ({ id }) => did.push(id), { key: ({ id }) => `job-${id}` })
    expect(await settled(clock, processed)).toEqual({ done: ['job-1', 'job-2'], doneElsewhere: [] })
    expect(did).toEqual([1, 2])
  })

  it.each([
    [['a', 'a'], /two jobs have the key 'a'/],
    [[1], /the key of a job must be a text: give the option key/],
  ])('refuses the jobs %j', async (jobs, message) => {
    const { manager } = managerOver()
    await expect(manager.processEach(jobs as string[], nothing)).rejects.toThrow(message)
  })

  it('refuses a store that keeps no metadata, and a mark that is too large', async () => {
    const { store, manager } = managerOver()
    const poor = { limits: { ...store.limits, metadata: 0 }, kind: 'poor' }
    const without = new LeaseManager(Object.assign(Object.create(store), poor))
    await expect(without.processEach(['a'], nothing)).rejects.toThrow(/the poor store keeps none/)
    await expect(manager.processEach(['a'], nothing, { run: 'x'.repeat(5_000) })).rejects.toThrow(/use a shorter owner/)
  })

  it('rejects with the errors of the workers by key, when all jobs were tried', async () => {
    const { manager, clock } = managerOver()
    const failure = new Error('no paper')
    const processing = manager.processEach(['a', 'b', 'c'], async (job) => {
      if (job === 'b') throw failure
    })
    const error = await settled(
      clock,
      processing.catch((reason: unknown) => reason),
    )
    expect(error).toBeInstanceOf(FailedJobsError)
    expect(error).toMatchObject({ failed: new Map([['b', failure]]), processed: { done: ['a', 'c'] } })
    expect((error as Error).message).toBe("the workers of 'b' failed: call processEach again to repeat these jobs")
  })

  it('begins no more jobs after its signal, and ends with the jobs in progress', async () => {
    const { manager, clock } = managerOver()
    const controller = new AbortController()
    const events: string[] = []
    const worker = async (job: string): Promise<void> => {
      events.push(`${job} begins`)
      await new Promise<void>((resolve) => clock.schedule(5_000, resolve))
      events.push(`${job} ends`)
    }
    const processing = manager.processEach(['a', 'b'], worker, { signal: controller.signal })
    const rejected = expect(processing).rejects.toThrow('enough')
    await clock.advance(1_000)
    controller.abort(new Error('enough'))
    await clock.advance(5_000)
    await rejected
    expect(events).toEqual(['a begins', 'a ends'])
    const rest = manager.processEach(['a', 'b'], worker)
    await clock.advance(6_000)
    expect(await rest).toEqual({ done: ['b'], doneElsewhere: ['a'] })
  })

  it('does not mark a job whose lease was lost during its work, also if another call holds the lease since', async () => {
    const { manager, store, clock } = managerOver()
    const ends: (() => void)[] = []
    const processing = manager.processEach(['a'], () => new Promise<void>((resolve) => ends.push(resolve)))
    await clock.advance(1_000)
    // It waits for the same lease, and so holds it next.
    let fail = (): void => {}
    const failing = manager.processEach(['a'], () => new Promise<void>((_, reject) => (fail = () => reject('no'))))
    const failed = failing.catch(() => 'failed')
    await clock.advance(1_000)
    const broken = breakLease(store, 'a', { period: 0, clock })
    await clock.advance(5_000)
    await broken
    expect(manager.names).toEqual(['a'])
    ends[0]?.()
    await clock.advance(1_000)
    fail()
    expect(await settled(clock, failed)).toBe('failed')
    await clock.advance(30_000)
    expect(ends.length).toBe(2)
    ends[1]?.()
    await clock.advance(1_000)
    expect(await processing).toEqual({ done: ['a'], doneElsewhere: [] })
  })

  it('does not begin a job again in this process while the worker that lost its lease goes on', async () => {
    const { manager, clock, faults } = managerOver()
    manager.on('error', () => {})
    const ends: (() => void)[] = []
    const processing = manager.processEach(['a'], () => new Promise<void>((resolve) => ends.push(resolve)))
    await clock.advance(1_000)
    faults.next = { kind: 'hang' }
    await clock.advance(15_000)
    faults.next = undefined
    await clock.advance(30_000)
    expect([manager.names, ends.length]).toEqual([[], 1])
    ends[0]?.()
    await clock.advance(10_000)
    expect(ends.length).toBe(2)
    ends[1]?.()
    await clock.advance(1_000)
    expect(await processing).toEqual({ done: ['a'], doneElsewhere: [] })
  })
})
