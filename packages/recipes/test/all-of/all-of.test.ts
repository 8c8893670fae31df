import {
  createLease,
  type Lease,
  LeaseConfigurationError,
  type LeaseLost,
  LeaseLostError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { AllOf, Semaphore } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { FaultyStore, TestLease, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'

const TTL = 10_000

function leasesOn(...names: string[]) {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const store = new FaultyStore(memory, { clock })
  const options = { owner: 'me', heartbeatTimeout: TTL, clock, logger: silentLogger }
  const leases = names.map((name) => createLease(store, name, options))
  const other = (name: string) => createLease(memory, name, { ...options, owner: 'other' })
  return { clock, store, memory, leases, other, environment: { clock, logger: silentLogger } }
}

describe('the settings of a lease over several leases', () => {
  it('has the names of its parts as its name, their owner, and the times of the shortest ttl', () => {
    const { leases, environment, store } = leasesOn('b', 'a')
    const short = createLease(store, 'c', { owner: 'third', heartbeatTimeout: 2_000, clock: environment.clock })
    expect(new AllOf(leases, environment).settings).toMatchObject({ name: 'a + b', owner: 'me' })
    const { owner, timeouts } = new AllOf([...leases, short], environment).settings
    expect([owner, timeouts.heartbeatTimeout]).toEqual(['third', 2_000])
    expect(new AllOf(leases, { name: 'transfer' }).settings.name).toBe('transfer')
  })

  it('has a short name where those of the parts are too long', () => {
    const { leases } = leasesOn('a'.repeat(600), 'b'.repeat(600))
    expect(new AllOf(leases).settings.name).toBe('2 leases')
  })

  it('orders the parts by name in code units, and those of one name by the kind of store', () => {
    const { leases } = leasesOn('b', 'Z', 'a')
    const other = (kind: string): StoreLease => createLease(Object.assign(new MemoryLeaseStore(), { kind }), 'a')
    const [first, second, third] = [other('azure'), other('redis'), other('redis')]
    const inOrder = [leases[1], first, leases[2], second, third, leases[0]]
    expect(
      new AllOf([second, third, ...leases, first]).leases.map((part) => inOrder.indexOf(part as StoreLease)),
    ).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('has the leases of a part that is made of several as its own parts, in their order', () => {
    const { leases } = leasesOn('a', 'z', 'n', 'b')
    const [a, z, n, b] = leases as unknown as [Lease, Lease, Lease, Lease]
    const nested = new AllOf([new AllOf([z, new AllOf([a, b])], { name: 'm' }), n])
    expect(nested.leases.map((part) => [a, b, n, z].indexOf(part))).toEqual([0, 1, 2, 3])
    expect(nested.settings.name).toBe('a + b + n + z')
  })

  it('refuses an empty list, and a value that is no lease', () => {
    expect(() => new AllOf([])).toThrow(LeaseConfigurationError)
    for (const [value, shown] of [
      [null, 'null'],
      ['a', 'a'],
      [{}, 'an object'],
      [Promise.resolve(new TestLease()), 'an object'],
    ] as const) {
      const refused = () => new AllOf([new TestLease(), value as unknown as Lease])
      expect(refused).toThrow(LeaseConfigurationError)
      expect(refused).toThrow(`AllOf was given ${shown} in place of a lease`)
    }
  })

  it('refuses one lease twice, also in a part of several, and two leases on one name of a store', () => {
    const { leases, store } = leasesOn('a', 'b')
    const refused = (...given: readonly Lease[]): void => {
      expect(() => new AllOf(given)).toThrow(LeaseConfigurationError)
      expect(() => new AllOf(given)).toThrow("AllOf was given 'a' twice")
    }
    refused(...leases, ...leases)
    refused(...leases, new AllOf(leases.slice(0, 1)))
    refused(...leases, createLease(store, 'a'))
    const semaphore = new Semaphore(store, { name: 'a', permits: 3 })
    refused(semaphore.permit(), semaphore.permit())
  })

  it('waits for nobody in a circle, also where the parts are made of several leases', async () => {
    const { clock, leases, store, environment } = leasesOn('a', 'z', 'n')
    const [a, z, n] = leases as unknown as [Lease, Lease, Lease]
    const [otherZ, otherN] = ['z', 'n'].map((name) => createLease(store, name, { owner: 'other', clock }))
    const nested = new AllOf([new AllOf([a, z], { name: 'm', ...environment }), n], environment)
    const other = new AllOf([new AllOf([otherN as Lease], environment), otherZ as Lease], environment)
    const orders: string[] = []
    const use = async (name: string, whole: Lease): Promise<void> => {
      await whole.run(async () => void orders.push(name), { wait: Number.POSITIVE_INFINITY })
    }
    const used = Promise.all([use('nested', nested), use('other', other)])
    let isOver = false
    void used.then(() => {
      isOver = true
    })
    expect(await clock.time.advanceUntil(() => isOver, 100 * TTL)).toBe(true)
    expect(orders).toHaveLength(2)
  })
})

describe('acquire of a lease over several leases', () => {
  it.each([
    [{ wait: -1 }, /wait must be 0 or more/],
    [{ onLost: 1 }, /onLost must be a function/],
    [{ signal: 1 }, /signal must be an AbortSignal/],
    [{ grantId: 'x' }, /acquire has no option 'grantId'/],
    [{ ifMatch: 'x' }, /acquire has no option 'ifMatch'/],
  ])('rejects %j', async (options, message) => {
    const whole = new AllOf([new TestLease()])
    await expect(whole.acquire(options as object)).rejects.toThrow(message)
    await expect(whole.acquire(options as object)).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('writes the metadata into the record of each part', async () => {
    const { leases, memory, clock, environment } = leasesOn('a', 'b')
    const whole = new AllOf(leases, environment)
    const held = whole.acquire({ metadata: { task: 'move' } })
    await clock.advance(10)
    expect(await held).toBe(true)
    for (const name of ['a', 'b']) {
      expect(await readLease(memory, name, { clock })).toMatchObject({ metadata: { task: 'move' } })
    }
  })

  it('gives each part the time that is left of the wait', async () => {
    const { leases, clock, environment, other } = leasesOn('a', 'b')
    const [one, two] = [other('a'), other('b')]
    await settled(clock, Promise.all([one.acquire(), two.acquire()]))
    const waiting = new AllOf(leases, environment).acquire({ wait: 5_000 })
    const answered: string[] = []
    void waiting.then((isHeld) => answered.push(`${isHeld} at ${clock.now() - startedAt}`))
    const startedAt = clock.now()
    await clock.advance(3_000)
    await settled(clock, one.release())
    expect(leases[1]?.checkLease()).toBe(false)
    await clock.advance(1_800)
    expect(answered).toEqual([])
    await clock.advance(600)
    expect(await waiting).toBe(false)
    expect(leases.some((lease) => lease.checkLease())).toBe(false)
  })

  it('asks a lease that does not wait by itself again', async () => {
    const clock = new VirtualClock()
    const part = new TestLease({ answer: false })
    const waiting = new AllOf([part], { clock }).acquire({ wait: 60_000 })
    await clock.advance(11_000)
    part.answer = true
    await clock.advance(6_000)
    expect(await waiting).toBe(true)
    expect(part.acquired).toBe(4)
  })

  it('rejects with the error of a part, and frees the parts before it', async () => {
    const failure = new LeaseUnavailableError('no answer', { leaseName: 'b' })
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b', answer: failure })]
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    await expect(whole.acquire()).rejects.toBe(failure)
    expect([one.checkLease(), one.released]).toEqual([false, 1])
  })

  it('releases a part whose outcome is unknown', async () => {
    const two = new TestLease({ name: 'b', answer: new LeaseUnavailableError('no answer', { leaseName: 'b' }) })
    const whole = new AllOf([new TestLease({ name: 'a' }), two], { clock: new VirtualClock() })
    await expect(whole.acquire()).rejects.toThrow('no answer')
    expect(two.released).toBe(1)
  })

  it('releases a part that was held before, was lost meanwhile and was granted anew', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    for (const part of [one, two]) await part.acquire()
    const { acquire } = one
    one.acquire = async (options) => {
      await one.lose()
      return await acquire.call(one, options)
    }
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    expect(await whole.acquire()).toBe(true)
    await whole.release()
    expect([one.checkLease(), two.checkLease()]).toEqual([false, true])
  })

  it('does not resolve with true where the validity of a part has ended unnoticed', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b', answer: 'later' })]
    const asked = new AllOf([one, two], { clock: new VirtualClock() }).acquire()
    const rejected = expect(asked).rejects.toMatchObject({ name: 'LeaseLostError', leaseName: 'a', reason: 'expired' })
    while (!two.isAsked) await Promise.resolve()
    one.stall()
    two.grant()
    await rejected
    expect(two.checkLease()).toBe(false)
  })

  it('rejects with the loss of a part where no time is left to ask again', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b', answer: 'later' })]
    const asked = new AllOf([one, two], { clock: new VirtualClock() }).acquire()
    const rejected = expect(asked).rejects.toMatchObject({ name: 'LeaseLostError', leaseName: 'a', reason: 'broken' })
    while (!two.isAsked) await Promise.resolve()
    await one.lose('broken')
    two.grant()
    await rejected
    expect([one.checkLease(), two.checkLease()]).toEqual([false, false])
  })
})

describe('the loss of a lease over several leases', () => {
  it('has the reason, the new owner and the name of the first part that is lost', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    const losses: LeaseLost[] = []
    await whole.acquire({ onLost: (lost) => losses.push(lost) })
    await whole.acquire({ onLost: (lost) => losses.push(lost) })
    await two.lose('taken', { owner: 'usurper' })
    await one.lose('expired')
    expect(losses.length).toBe(2)
    expect(losses[0]).toBe(losses[1])
    expect(losses[0]).toMatchObject({ reason: 'taken', owner: 'usurper', cause: { leaseName: 'b', reason: 'taken' } })
    expect(losses[0]?.cause).toBeInstanceOf(LeaseLostError)
    expect(one.released).toBe(1)
  })

  it('is seen by checkLease before any notification, and is never taken back', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    await whole.acquire()
    one.stall()
    expect(whole.checkLease()).toBe(false)
    await one.release()
    await one.acquire()
    expect([one.checkLease(), two.checkLease(), whole.checkLease()]).toEqual([true, true, false])
  })

  it('aborts the signal and the work of a run at once', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    let signal: AbortSignal | undefined
    const running = whole.run((held) => {
      signal = held.signal
      return new Promise(() => {})
    })
    const rejected = expect(running).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'suspended' })
    while (signal === undefined) await Promise.resolve()
    await two.lose('suspended')
    await rejected
    expect(signal.aborted).toBe(true)
    expect(one.checkLease()).toBe(false)
  })

  it('is notified to the other callbacks when one of them throws, which the logger gets', async () => {
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: (_: string, error: unknown) => errors.push(error) }
    const part = new TestLease()
    const whole = new AllOf([part], { clock: new VirtualClock(), logger })
    let isNotified = false
    const fails = async (): Promise<void> => {
      throw new Error('of the callback')
    }
    await whole.acquire({ onLost: () => void 0 })
    await whole.acquire({ onLost: fails as () => void })
    await whole.acquire({
      onLost: () => {
        isNotified = true
      },
    })
    await part.lose()
    await Promise.resolve()
    expect(isNotified).toBe(true)
    expect(errors).toEqual([new Error('of the callback')])
  })

  it('is notified when a part is released by itself, also one of another copy of core', async () => {
    vi.resetModules()
    const copy = await import('@leasehold/core')
    expect(copy.createLease).not.toBe(createLease)
    const { clock, memory, leases, environment } = leasesOn('a')
    const part = copy.createLease(memory, 'b', { owner: 'me', heartbeatTimeout: TTL, ...environment })
    const whole = new AllOf([...leases, part], environment)
    const losses: LeaseLost[] = []
    expect(await settled(clock, whole.acquire({ onLost: (lost) => losses.push(lost) }))).toBe(true)
    await settled(clock, part.release())
    await clock.settle()
    expect(losses).toMatchObject([{ reason: 'closed', cause: { leaseName: 'b', reason: 'released' } }])
    expect(leases[0]?.checkLease()).toBe(false)
  })

  it('that a lease notices when it is acquired again is notified first', async () => {
    const [one, two] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    const whole = new AllOf([one, two], { clock: new VirtualClock() })
    const losses: LeaseLost[] = []
    await whole.acquire({ onLost: (lost) => losses.push(lost) })
    one.stall()
    await one.release()
    expect(await whole.acquire()).toBe(true)
    expect(losses.map(({ reason }) => reason)).toEqual(['expired'])
    expect([one.acquired, two.acquired, two.released]).toEqual([2, 2, 1])
  })
})

describe('the tokens of a lease over several leases', () => {
  it('leave out a name that several parts share: those have their own', async () => {
    const parts = [new TestLease({ name: 'a' }), new TestLease({ name: 'a' }), new TestLease({ name: 'b' })]
    const whole = new AllOf(parts, { clock: new VirtualClock() })
    await whole.acquire()
    expect([...whole.fencingTokens]).toEqual([['b', 1n]])
    expect(whole.fencingToken).toBeUndefined()
  })

  it('of one part is that of the whole', async () => {
    const whole = new AllOf([new TestLease({ name: 'a' })], { clock: new VirtualClock() })
    expect(whole.fencingToken).toBeUndefined()
    await whole.acquire()
    expect(whole.fencingToken).toBe(1n)
  })
})

describe('release of a lease over several leases', () => {
  it('tries all parts, rejects with the first error, and can be called again', async () => {
    const { leases, clock, store, environment } = leasesOn('a', 'b')
    const whole = new AllOf(leases, environment)
    await settled(clock, whole.acquire())
    for (let time = 0; time < 100; time += 1) store.inject({ kind: 'hang' }, 'release')
    const failed = expect(whole.release()).rejects.toMatchObject({ code: 'timeout' })
    expect(whole.checkLease()).toBe(false)
    await clock.advance(TTL)
    await failed
    await clock.advance(2 * TTL)
    expect(await settled(clock, whole.release())).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('frees the leases of a part that is made of several', async () => {
    const [one, two, three] = [new TestLease({ name: 'a' }), new TestLease({ name: 'b' }), new TestLease({ name: 'c' })]
    const clock = new VirtualClock()
    const inner = new AllOf([one, two], { clock })
    const outer = new AllOf([inner, three], { clock })
    const losses: LeaseLost[] = []
    expect(await outer.acquire({ onLost: (lost) => losses.push(lost) })).toBe(true)
    expect([one, two, three].every((part) => part.checkLease())).toBe(true)
    await one.lose('broken')
    await outer.release()
    expect(losses).toMatchObject([{ reason: 'broken', cause: { leaseName: 'a' } }])
    expect([one, two, three].some((part) => part.checkLease())).toBe(false)
  })
})

async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  await clock.advance(100)
  return await promise
}
