import { type Grant, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type CasEntry, type CasStore, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { TimedRegister, type TimedRegisterOptions } from './timed-register.js'

const TTL = 10_000
/** The margin that a challenger waits after the ttl. */
const MARGIN = 25
const ERROR = 2_000
/** Of the store: it has nothing to do with the clocks of processes. */
const EPOCH = 1_800_000_000_000
const call = new AbortableCall()

interface Fixture {
  readonly clock: VirtualClock
  readonly register: TimedRegister
  /** The store of another process, whose clock began at 0 a moment ago. */
  readonly open: () => CasStore
  /** Sets the clock of the store forward or back, in milliseconds. */
  readonly step: (by: number) => void
}

function setUp(options: Partial<TimedRegisterOptions> = {}): Fixture {
  const clock = new VirtualClock()
  let stepped = 0
  const register = new TimedRegister({ now: () => EPOCH + stepped + clock.now(), clockError: ERROR, ...options })
  return {
    clock,
    register,
    open: () => casStore(register, { clock, probe: false }),
    step: (by) => {
      stepped += by
    },
  }
}

function claim(store: LeaseStore, owner: string, ttl = TTL, via = call): Promise<AcquireOutcome> {
  return store.acquire({ name: 'job', owner, grantId: owner, ttl }, via)
}

async function held(store: LeaseStore, owner: string, ttl = TTL): Promise<Grant> {
  const outcome = await claim(store, owner, ttl)
  if (!outcome.granted) throw new Error('not granted')
  return outcome.grant
}

describe('a challenger that looks once, over a store with times of writes', () => {
  it('replaces a dead holder after the ttl and the error of the clock, and not before', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a')
    clock.block(TTL + MARGIN + ERROR - 1)
    expect(await claim(open(), 'b')).toMatchObject({ granted: false, holder: { owner: 'a', remaining: 1 } })
    clock.block(1)
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('counts from the last heartbeat', async () => {
    const { clock, open } = setUp()
    const holder = open()
    const grant = await held(holder, 'a')
    for (let beat = 0; beat < 5; beat += 1) {
      clock.block(TTL - 1)
      await holder.renew(grant, call)
      expect((await claim(open(), 'b')).granted).toBe(false)
    }
    clock.block(TTL + MARGIN + ERROR)
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('counts the recorded ttl, not its own', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a', 5 * TTL)
    clock.block(2 * TTL)
    expect((await claim(open(), 'b')).granted).toBe(false)
  })

  it('reads the remaining time by the clock of the store', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a')
    clock.block(TTL / 2)
    expect(await open().read('job', call)).toMatchObject({ state: 'leased', remaining: TTL / 2 + MARGIN + ERROR })
    clock.block(TTL)
    expect(await open().read('job', call)).toMatchObject({ state: 'expired' })
  })

  it('waits for the period of a break from the break on, although the record is old', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a', 10 * TTL)
    clock.block(TTL)
    await open().break('job', { period: TTL }, call)
    expect(await open().read('job', call)).toMatchObject({ state: 'breaking', remaining: TTL + MARGIN })
    clock.block(TTL + MARGIN + ERROR - 1)
    expect((await claim(open(), 'b')).granted).toBe(false)
    clock.block(1)
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('breaks a lease for no longer than it would have been locked', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a')
    clock.block(TTL / 2)
    const { remaining } = await open().break('job', {}, call)
    expect(remaining).toBe(TTL / 2 + MARGIN + ERROR)
  })

  it('counts a displaced holder as gone for as long as the record is unchanged', async () => {
    const { clock, register, open } = setUp()
    const grant = await held(open(), 'a')
    const { record, version } = (await register.read('job')) as CasEntry<number>
    const displaced = { grantId: grant.grantId, ttl: TTL }
    await register.replace('job', { ...record, owner: 'x', revision: 9, displaced }, version)
    clock.block(TTL + MARGIN + ERROR - 1)
    expect((await claim(open(), 'b')).granted).toBe(false)
    clock.block(1)
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('counts the renewals as before', async () => {
    const { clock, open } = setUp()
    const holder = open()
    const grant = await held(holder, 'a')
    await holder.renew(grant, call)
    await holder.renew(grant, call)
    clock.block(TTL / 2)
    expect(await open().read('job', call)).toMatchObject({ renewals: 2 })
  })

  it('refuses to hand over a lease that is over by the clock of the store', async () => {
    const { clock, open } = setUp()
    const grant = await held(open(), 'a')
    clock.block(TTL + MARGIN + ERROR)
    expect((await open().change(grant, { grantId: 'b', owner: 'b' }, call)).granted).toBe(false)
  })

  it('observes as long as before if that is shorter: a waiter does not wait for the error of the clock', async () => {
    const { clock, open } = setUp()
    await held(open(), 'a')
    const waiter = open()
    await claim(waiter, 'b')
    clock.block(TTL + MARGIN)
    expect((await claim(waiter, 'b')).granted).toBe(true)
  })

  it('never counts more than the time since its process saw another version, whatever the clock of the store shows', async () => {
    const { clock, open, step } = setUp()
    const holder = open()
    const grant = await held(holder, 'a')
    const challenger = open()
    await claim(challenger, 'b')
    clock.block(100)
    await holder.renew(grant, call)
    clock.block(100)
    step(3_600_000)
    expect(await claim(challenger, 'b')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN - 200 } })
    clock.block(TTL / 2)
    expect(await claim(challenger, 'b')).toMatchObject({
      granted: false,
      holder: { remaining: TTL / 2 + MARGIN - 200 },
    })
  })

  it('counts from the last look that saw another version, not from the first', async () => {
    const { clock, open, step } = setUp()
    const challenger = open()
    const holder = open()
    const grant = await held(holder, 'a')
    await claim(challenger, 'b')
    clock.block(TTL - 1)
    await claim(challenger, 'b')
    await holder.renew(grant, call)
    clock.block(1_000)
    step(3_600_000)
    expect(await claim(challenger, 'b')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN - 1_000 } })
  })

  it('keeps what it knows when later answers have no times', async () => {
    const { clock, register, open } = setUp()
    await held(open(), 'a')
    clock.block(TTL / 2 + ERROR)
    const challenger = open()
    await claim(challenger, 'b')
    register.faulty = ({ readAt: _, writtenAt: __, ...entry }) => entry
    clock.block(TTL / 2 + MARGIN)
    expect((await claim(challenger, 'b')).granted).toBe(true)
  })
})

describe('times that prove nothing', () => {
  it.each([
    { title: 'no time of the answer', times: { readAt: undefined } },
    { title: 'no time of the write', times: { writtenAt: undefined } },
    { title: 'NaN as the time of the answer', times: { readAt: Number.NaN } },
    { title: 'NaN as the time of the write', times: { writtenAt: Number.NaN } },
    { title: 'a write at 0', times: { writtenAt: 0 } },
    { title: 'a write in the year 1', times: { writtenAt: -62_135_596_800_000 } },
    { title: 'a write shortly before 1970', times: { writtenAt: -6 * TTL, readAt: 6 * TTL } },
    { title: 'an endless time of the answer', times: { readAt: Number.POSITIVE_INFINITY } },
    { title: 'a write without an end', times: { writtenAt: Number.NEGATIVE_INFINITY } },
    { title: 'a write in the future', times: { writtenAt: EPOCH + 9 * TTL } },
    { title: 'a write in seconds', times: { writtenAt: EPOCH / 1_000 } },
    { title: 'an answer in microseconds', times: { readAt: EPOCH * 1_000 } },
    { title: 'texts', times: { readAt: '9e15', writtenAt: '1' } },
    { title: 'bigints', times: { readAt: 9_000n, writtenAt: 1n } },
    { title: 'null', times: { readAt: null, writtenAt: null } },
  ])('are ignored: $title. The challenger then observes', async ({ times }) => {
    const { clock, register, open } = setUp()
    await held(open(), 'a')
    clock.block(3 * TTL)
    register.faulty = (entry) => ({ ...entry, ...(times as object) })
    const challenger = open()
    expect(await claim(challenger, 'b')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
    clock.block(TTL + MARGIN)
    expect((await claim(challenger, 'b')).granted).toBe(true)
  })

  it('are those of a register that does not state the error of its clock', async () => {
    const { clock, open } = setUp({ clockError: undefined })
    await held(open(), 'a')
    clock.block(3 * TTL)
    expect((await claim(open(), 'b')).granted).toBe(false)
    expect(open().limits).not.toHaveProperty('looks')
  })

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5', null])('cannot come with the error %s', (clockError) => {
    const { open } = setUp({ clockError: clockError as number })
    expect(open).toThrow(LeaseConfigurationError)
    expect(open).toThrow('clockError of the timed register is')
  })

  it('cannot be marked by a register that does not state the error of its clock', () => {
    expect(setUp({ marks: true, clockError: undefined }).open).toThrow('clockError of the timed register is undefined')
  })
})

describe('a challenger that looks once, over a store with marks', () => {
  it('continues the observation of the challenger before it', async () => {
    const { clock, register, open } = setUp({ marks: true })
    await held(open(), 'a')
    clock.block(TTL)
    expect(await claim(open(), 'b')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
    expect(register.marks).toEqual([{ name: 'job', version: 2, since: EPOCH + TTL }])
    clock.block(TTL + MARGIN + ERROR - 1)
    expect(await claim(open(), 'c')).toMatchObject({ granted: false, holder: { remaining: 1 } })
    clock.block(1)
    expect((await claim(open(), 'd')).granted).toBe(true)
    expect(register.marks.length).toBe(1)
  })

  it('begins again after a heartbeat', async () => {
    const { clock, register, open } = setUp({ marks: true })
    const holder = open()
    const grant = await held(holder, 'a')
    await claim(open(), 'b')
    clock.block(TTL - 1)
    await holder.renew(grant, call)
    clock.block(TTL - 1)
    expect(await claim(open(), 'c')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
    expect(register.marks.map(({ version }) => version)).toEqual([2, 3])
  })

  it('ignores a mark that is older than the last write', async () => {
    const { clock, register, open } = setUp()
    await held(open(), 'a')
    register.faulty = (entry) => ({ ...entry, doubtedSince: EPOCH - 9 * TTL })
    expect(await claim(open(), 'b')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
    clock.block(TTL)
    expect((await claim(open(), 'c')).granted).toBe(false)
  })

  it('makes one mark for a name in its life', async () => {
    const { clock, register, open } = setUp({ marks: true })
    const holder = open()
    const grant = await held(holder, 'a')
    const challenger = open()
    for (let look = 0; look < 5; look += 1) {
      await claim(challenger, 'b')
      clock.block(1_000)
      await holder.renew(grant, call)
    }
    expect(register.marks.length).toBe(1)
  })

  it('makes a mark when it asks, though its process has read the record before', async () => {
    const { register, open } = setUp({ marks: true })
    await held(open(), 'a')
    const challenger = open()
    await challenger.read('job', call)
    expect(register.marks).toEqual([])
    await claim(challenger, 'b')
    expect(register.marks.length).toBe(1)
  })

  it('makes no mark for a name that it is granted', async () => {
    const { clock, register, open } = setUp({ marks: true })
    const grant = await held(open(), 'a')
    await open().release(grant, call)
    await held(open(), 'b')
    clock.block(1)
    expect(register.marks).toEqual([])
  })

  it('makes no mark where the store gives no time', async () => {
    const { register, open } = setUp({ marks: true })
    await held(open(), 'a')
    register.faulty = ({ readAt: _, ...entry }) => entry
    expect((await claim(open(), 'b')).granted).toBe(false)
    expect(register.marks).toEqual([])
  })

  it.each([
    { title: 'is refused', fail: () => Promise.reject(new Error('access denied')) },
    {
      title: 'throws',
      fail: () => {
        throw new Error('bug')
      },
    },
  ])('is answered all the same when the mark $title', async ({ fail }) => {
    const { register, open } = setUp({ marks: true })
    await held(open(), 'a')
    register.failDoubt = fail
    expect(await claim(open(), 'b')).toMatchObject({ granted: false, holder: { owner: 'a' } })
  })

  it('is answered when half of the time of its call is over, if the mark hangs', async () => {
    const { clock, register, open } = setUp({ marks: true })
    await held(open(), 'a')
    register.failDoubt = () => new Promise(() => {})
    const limited = new AbortableCall(1_000)
    const answer = claim(open(), 'b', TTL, limited)
    const before = clock.now()
    await clock.advance(500)
    expect(await answer).toMatchObject({ granted: false, holder: { owner: 'a' } })
    expect(clock.now() - before).toBe(500)
    // The request has ended, too.
    expect(register.doubtCall).toMatchObject({ timeout: 500, aborted: true })
    expect(limited.listeners).toBe(0)
  })

  it('ends the mark with its call', async () => {
    const { clock, register, open } = setUp({ marks: true })
    await held(open(), 'a')
    const limited = new AbortableCall()
    register.failDoubt = (call) => new Promise((_, reject) => call.onAbort(() => reject(new Error('aborted'))))
    const answer = claim(open(), 'b', TTL, limited)
    await clock.settle()
    limited.abort()
    expect(await answer).toMatchObject({ granted: false })
    expect(register.doubtCall?.aborted).toBe(true)
  })
})

describe('the limits of a store over a register', () => {
  it('say how many looks tell a dead holder from a live one', () => {
    const extra = ERROR + MARGIN
    expect(setUp().open().limits).toMatchObject({ observed: true, looks: { needed: 1, extra } })
    expect(setUp({ marks: true }).open().limits).toMatchObject({ observed: true, looks: { needed: 2, extra } })
  })
})
