import {
  type CreateLeaseOptions,
  createLease,
  LeaseConflictError,
  type LeaseRecord,
  LeaseUnauthorisedError,
  MemoryLeaseStore,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUp, silentLogger, TTL, VALIDITY } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

const NOTICE = INTERVAL + LIMIT
const wait = Number.POSITIVE_INFINITY
const always = (): boolean => true

/** A store in memory with a holder, and the losses of the holder. */
async function setUpHolder(options: CreateLeaseOptions = {}) {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const store = new FaultyStore(memory, { clock })
  const open = (
    owner: string,
    more: CreateLeaseOptions = {},
    over: FaultyStore | MemoryLeaseStore = memory,
  ): StoreLease =>
    createLease(over, 'job', {
      owner,
      heartbeatTimeout: TTL,
      heartbeatInterval: INTERVAL,
      operationTimeout: LIMIT,
      clock,
      logger: silentLogger,
      random: () => 0,
      ...more,
    })
  const holder = open('holder', options)
  const losses: { reason: string; at: number }[] = []
  await holder.acquire({
    metadata: { priority: '1' },
    onLost: ({ reason }) => losses.push({ reason, at: clock.now() }),
  })
  await clock.advance(3 * INTERVAL)
  return { clock, memory, store, open, holder, losses }
}

const lowPriority = ({ metadata }: LeaseRecord): boolean => Number(metadata.priority) < 5

describe('acquire with preempt', () => {
  it('breaks the lease of the holder and gets it when the ttl of the holder has passed', async () => {
    const { clock, holder, losses, open } = await setUpHolder()
    const challenger = open('challenger')
    const began = clock.now()
    const acquired = challenger.acquire({ wait, preempt: { period: NOTICE, when: lowPriority } })
    await clock.advance(NOTICE)
    expect(losses).toEqual([{ reason: 'broken', at: expect.any(Number) }])
    expect(losses[0]?.at).toBeLessThanOrEqual(began + INTERVAL)
    expect(challenger.checkLease()).toBe(false)
    await clock.advance(TTL)
    expect(await acquired).toBe(true)
    expect(holder.checkLease()).toBe(false)
  })

  it('never has two holders, though the holder hears nothing of the break and the period is 0', async () => {
    const { clock, losses, open, store, memory } = await setUpHolder()
    const cutOff = open('cut off', {}, store)
    await memory.break('job', { period: 0 })
    await clock.advance(INTERVAL)
    expect(await cutOff.acquire()).toBe(true)
    store.inject({ kind: 'hang' }, 'renewMany')
    store.inject({ kind: 'hang' }, 'renewMany')
    for (let count = 0; count < 50; count += 1) store.inject({ kind: 'hang' }, 'renewMany')
    const challenger = open('challenger')
    const acquired = challenger.acquire({ wait, preempt: { period: 0, when: always } })
    for (let passed = 0; passed < 2 * TTL; passed += 50) {
      await clock.advance(50)
      expect(cutOff.checkLease() && challenger.checkLease()).toBe(false)
      if (passed < VALIDITY - 1_000) expect(cutOff.checkLease()).toBe(true)
    }
    expect(await acquired).toBe(true)
    expect(losses).toHaveLength(1)
  })

  it('waits as usual if when() returns false, and asks once for each grant of a holder', async () => {
    const { clock, holder, losses, open } = await setUpHolder()
    const asked: string[] = []
    const when = vi.fn(({ owner }: LeaseRecord) => {
      asked.push(owner)
      return owner === 'successor'
    })
    const successor = open('successor')
    const second = successor.acquire({ wait })
    await clock.advance(1)
    const acquired = open('challenger').acquire({ wait, preempt: { period: NOTICE, when } })
    await clock.advance(2 * TTL)
    expect(asked).toEqual(['holder'])
    expect(losses).toEqual([])
    await holder.release()
    await clock.advance(1)
    expect(await second).toBe(true)
    await clock.advance(3 * TTL)
    expect(asked).toEqual(['holder', 'successor'])
    expect(await acquired).toBe(true)
  })

  it('gives when() the record of the holder, which JSON accepts', async () => {
    const { clock, open } = await setUpHolder()
    let json = ''
    const when = (holder: LeaseRecord): boolean => {
      json = JSON.stringify(holder)
      return false
    }
    const acquired = open('challenger').acquire({ wait: 100, preempt: { period: NOTICE, when } })
    await clock.advance(200)
    expect(await acquired).toBe(false)
    expect(JSON.parse(json)).toMatchObject({ owner: 'holder', metadata: { priority: '1' }, state: 'leased' })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no priority')
      },
      /preempt.when\(\) failed for lease 'job': no priority/,
    ],
    [
      'returns a promise',
      async () => {
        throw new Error('later')
      },
      /must return true or false at once/,
    ],
    ['returns no boolean', () => 'yes', /must return true or false at once, not yes/],
  ])('rejects only its own call if when() %s', async (_, when, message) => {
    const { clock, holder, losses, open } = await setUpHolder()
    const challenger = open('challenger')
    const other = challenger.acquire({ wait })
    const preempt = { period: NOTICE, when: when as unknown as () => boolean }
    const failed = expect(challenger.acquire({ wait, preempt })).rejects.toThrow(message)
    await clock.advance(INTERVAL)
    await failed
    expect(losses).toEqual([])
    await holder.release()
    await clock.advance(1)
    expect(await other).toBe(true)
  })

  it('leaves the break in place when the challenger is cancelled', async () => {
    const { clock, memory, losses, open } = await setUpHolder()
    const cancel = new AbortController()
    const challenger = open('challenger')
    const preempt = { period: NOTICE, when: always }
    const acquired = expect(challenger.acquire({ wait, signal: cancel.signal, preempt })).rejects.toThrow()
    await clock.advance(1)
    cancel.abort()
    await acquired
    expect((await readLease(memory, 'job', { clock }))?.state).toBe('breaking')
    await clock.advance(2 * TTL)
    expect(losses.map(({ reason }) => reason)).toEqual(['broken'])
    expect(await open('third').acquire()).toBe(true)
  })

  it('lets a holder renew first that has less left than the notice', async () => {
    const { clock, losses, open } = await setUpHolder({ strategy: { renewAt: 0.8 }, operationTimeout: 500 })
    await clock.advance(TTL * 0.8 + TTL * 0.6 - 3 * INTERVAL)
    const began = clock.now()
    const challenger = open('challenger')
    const acquired = challenger.acquire({ wait, preempt: { period: TTL * 0.45, when: always } })
    await clock.advance(TTL * 0.2 + 100)
    expect(losses).toEqual([])
    await clock.advance(TTL * 0.8)
    expect(losses.map(({ reason }) => reason)).toEqual(['broken'])
    expect(losses[0]?.at).toBeGreaterThan(began + TTL * 0.2)
    await clock.advance(TTL)
    expect(await acquired).toBe(true)
  })

  it('rejects for a holder whose lease does not expire, and breaks nothing', async () => {
    const { clock, losses, open, holder } = await setUpHolder({
      heartbeatTimeout: Number.POSITIVE_INFINITY,
    })
    const acquired = open('challenger').acquire({ wait, preempt: { period: NOTICE, when: always } })
    const failed = expect(acquired).rejects.toThrow(LeaseConflictError)
    await clock.advance(INTERVAL * 3)
    await failed
    expect(losses).toEqual([])
    expect(holder.checkLease()).toBe(true)
  })

  it.each([
    [{ preempt: { period: 1, when: always } }, /preempt needs a wait/],
    [{ wait, preempt: { period: -1, when: always } }, /preempt.period must be 0 or more milliseconds, not -1/],
    [{ wait, preempt: { period: 1 } }, /preempt.when must be a function, not undefined/],
    [{ wait, preempt: 5 }, /preempt must be \{ period, when \}, not 5/],
    [{ wait, preempt: { period: 1, when: always, wenn: 1 } }, /preempt has no option 'wenn'/],
  ])('refuses %j before anything is sent', async (options, message) => {
    const { lease, store } = setUp()
    Object.assign(store, { break: async () => ({ remaining: 0 }) })
    await expect(lease.acquire(options as never)).rejects.toThrow(message)
    expect(store.calls).toEqual([])
  })

  it('rejects with a LeaseConfigurationError over a store without break, before anything is sent', async () => {
    const { lease, store } = setUp()
    const acquired = lease.acquire({ wait, preempt: { period: 1, when: always } })
    await expect(acquired).rejects.toMatchObject({ code: 'configuration', message: /cannot break leases/ })
    expect(store.calls).toEqual([])
  })
})

describe('the break of a challenger', () => {
  interface Break {
    readonly grantId: string | undefined
    readonly answer: (outcome: unknown) => void
    readonly fail: (error: unknown) => void
  }

  function setUpBreaks() {
    const fixture = setUp({ random: () => 0 })
    const breaks: Break[] = []
    const sendBreak = (_name: string, { grantId }: { grantId?: string }): Promise<unknown> =>
      new Promise((answer, fail) => breaks.push({ grantId, answer, fail }))
    Object.assign(fixture.store, { break: sendBreak })
    const refuse = async (record: Partial<LeaseRecord> = {}): Promise<void> => {
      fixture.store.last('acquire').answer({ granted: false, holder: recordOf({ remaining: 8_000, ...record }) })
      await fixture.clock.settle()
    }
    return { ...fixture, breaks, refuse }
  }

  const preempt = { period: 1_000, when: always }

  it('names the grant that when() saw', async () => {
    const { lease, breaks, refuse } = setUpBreaks()
    void lease.acquire({ wait, preempt })
    await refuse()
    expect(breaks.map(({ grantId }) => grantId)).toEqual(['other-grant'])
  })

  it('that finds another grant is not an error: the challenger asks again, and when() sees the successor', async () => {
    const { clock, store, lease, breaks, refuse } = setUpBreaks()
    const when = vi.fn((): boolean => true)
    void lease.acquire({ wait, preempt: { period: 1_000, when } })
    await refuse()
    breaks[0]?.fail(new LeaseConflictError('another grant'))
    await clock.advance(500)
    expect(store.count('acquire')).toBe(2)
    await refuse({ grantId: 'next-grant', owner: 'next' })
    expect(when).toHaveBeenCalledTimes(2)
    expect(breaks.map(({ grantId }) => grantId)).toEqual(['other-grant', 'next-grant'])
  })

  it.each([
    ['fails', (one: Break | undefined) => one?.fail(new Error('ECONNRESET'))],
    ['has an answer that is not valid', (one: Break | undefined) => one?.answer({ remaining: 'soon' })],
    ['hangs', () => {}],
  ])('is repeated without asking again if it %s', async (_, end) => {
    const { clock, lease, breaks, refuse, store } = setUpBreaks()
    const when = vi.fn((): boolean => true)
    void lease.acquire({ wait, preempt: { period: 1_000, when } })
    await refuse()
    end(breaks[0])
    await clock.advance(LIMIT + 500)
    expect(store.calls.at(-1)?.method).toBe('acquire')
    await refuse()
    expect(breaks).toHaveLength(2)
    expect(when).toHaveBeenCalledTimes(1)
    breaks[1]?.answer({ remaining: 100 })
    await clock.advance(200)
    await refuse({ state: 'breaking' })
    expect(breaks).toHaveLength(2)
  })

  it('that the store certainly refuses rejects the callers that want it, and no others', async () => {
    const { clock, lease, breaks, refuse, store } = setUpBreaks()
    const other = lease.acquire({ wait })
    const failed = expect(lease.acquire({ wait, preempt })).rejects.toThrow(LeaseUnauthorisedError)
    await refuse()
    breaks[0]?.fail(new LeaseUnauthorisedError('no permission to break'))
    await failed
    await clock.advance(1_000)
    store.last('acquire').answer('yes')
    expect(await other).toBe(true)
  })

  it('does not touch a holder that the store does not know', async () => {
    const { lease, breaks, refuse } = setUpBreaks()
    void lease.acquire({ wait, preempt })
    await refuse({ owner: '', grantId: '' })
    expect(breaks).toEqual([])
  })

  it('leaves no cleanup behind when it is cancelled, for no claim is under way', async () => {
    const { clock, lease, refuse, store } = setUpBreaks()
    const cancel = new AbortController()
    const acquired = expect(lease.acquire({ wait, preempt, signal: cancel.signal })).rejects.toThrow()
    await refuse()
    cancel.abort()
    await acquired
    await clock.advance(TTL)
    expect(store.calls.map(({ method }) => method)).toEqual(['acquire'])
  })
})
