import { LeaseConfigurationError, LeaseConflictError, LeaseTimeoutError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { FaultyStore } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Electorate, TTL } from './electorate.js'

const INTERVAL = 1_000
const call = new AbortableCall()

/** Work that ends `after` milliseconds after its signal. */
function working(electorate: Electorate, after: number) {
  return ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => void electorate.clock.schedule(after, resolve))
    })
}

describe('candidates', () => {
  it('are those that are ready and wait, the best first; the leader is none of them', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 9 })
    electorate.start({ rank: 1 })
    electorate.start({ rank: () => 3 })
    electorate.start()
    await electorate.pass(10)
    expect(await election.candidates()).toEqual([
      { owner: 'candidate-2', rank: 3 },
      { owner: 'candidate-1', rank: 1 },
    ])
  })

  it('show a new rank within a heartbeat interval, and have gone after stop', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 0 })
    let rank = 1
    const other = electorate.start({ rank: () => rank })
    await electorate.pass(10)
    rank = 7
    await electorate.pass(INTERVAL + 10)
    expect(await election.candidates()).toEqual([{ owner: 'candidate-1', rank: 7 }])
    await electorate.during(other.election.stop())
    expect(await election.candidates()).toEqual([])
  })

  it('whose heartbeats fail are not ready', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 0 })
    let isCut = false
    electorate.start({ rank: 1 }, { plan: () => (isCut ? { kind: 'hang' } : undefined) })
    await electorate.pass(10)
    isCut = true
    await electorate.pass(TTL * 0.7)
    expect(await election.candidates()).toEqual([])
  })

  it('leave no record behind: the next candidate takes the place of one that has gone', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 0 })
    for (let round = 0; round < 20; round += 1) {
      const { election: other } = electorate.start({ rank: 1, owner: `pod-${round}` })
      await electorate.pass(20)
      expect(await election.candidates()).toEqual([{ owner: `pod-${round}`, rank: 1 }])
      await electorate.during(other.stop())
    }
    const names: string[] = []
    for await (const { name } of electorate.store.list('job/', call)) names.push(name)
    expect(names.length).toBeLessThanOrEqual(2)
  })

  it('that were elected are none before their term has ended, however short it was', async () => {
    const electorate = new Electorate()
    const before = await electorate.lead()
    const first = electorate.start({ rank: 9, resignPause: 60_000, onElected: async () => {} })
    const second = electorate.start({ rank: 1 })
    await electorate.pass(20)
    await electorate.during(before.election.stop())
    await electorate.pass(1)
    expect(first.events).toEqual(['elected 2', 'resigned 2'])
    // It does not pass the leadership on to one that waits no more.
    expect(second.events).toEqual(['elected 3'])
  })

  it('are not ready before they are prepared; a failure is reported and tried again', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 0 })
    let tries = 0
    const { errors } = electorate.start({
      prepare: () => {
        tries += 1
        if (tries === 1) throw new Error('of the cache')
      },
    })
    await electorate.pass(100)
    expect(await election.candidates()).toEqual([])
    expect(errors).toMatchObject([{ message: 'of the cache' }])
    await electorate.pass(INTERVAL)
    expect(await election.candidates()).toEqual([{ owner: 'candidate-1', rank: 0 }])
  })

  it('stop does not wait for a preparation that ignores its signal', async () => {
    const electorate = new Electorate()
    const { election } = electorate.start({ prepare: () => new Promise(() => {}) })
    await electorate.pass(10)
    await electorate.during(election.stop())
    expect(election.isLeader).toBe(false)
  })

  it('a rank that throws is reported, and the last one stays', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ rank: 0 })
    let isBroken = false
    const rank = (): number => {
      if (isBroken) throw new Error('of the rank')
      return 4
    }
    const { errors } = electorate.start({ rank })
    await electorate.pass(10)
    isBroken = true
    await electorate.pass(INTERVAL * 2)
    expect(errors).toContainEqual(expect.objectContaining({ message: 'of the rank' }))
    expect(await election.candidates()).toEqual([{ owner: 'candidate-1', rank: 4 }])
  })
})

describe('transferTo', () => {
  it('hands over in one write: the name is never free, and the next term is that of the write', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 1 })
    const third = electorate.start({ rank: 2 })
    await electorate.pass(10)
    const transferred = await first.election.transferTo('best')
    expect(transferred).toEqual({ owner: 'candidate-2', term: 2n })
    expect(await electorate.store.read('job', call)).toMatchObject({ owner: 'candidate-2', state: 'leased' })
    await electorate.pass(0)
    expect(third.events).toEqual(['elected 2'])
    expect(first.events).toEqual(['elected 1', 'resigned 1'])
    expect(second.events).toEqual([])
  })

  it('to an owner that was chosen: it does not pass the leadership on to a better one', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 1 })
    electorate.start({ rank: 2 })
    await electorate.pass(10)
    await first.election.transferTo('candidate-1')
    await electorate.pass(INTERVAL)
    expect(second.election.isLeader).toBe(true)
  })

  it('waits for the work to end; the successor does not lead before', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0, onElected: working(electorate, 3_000) })
    const second = electorate.start({ rank: 1 })
    await electorate.pass(10)
    const transferred = first.election.transferTo('best')
    await electorate.pass(2_900)
    expect([first.election.isLeader, second.election.isLeader]).toEqual([true, false])
    await electorate.pass(200)
    expect(await transferred).toMatchObject({ owner: 'candidate-1' })
    expect([first.election.isLeader, second.election.isLeader]).toEqual([false, true])
  })

  it('without such a candidate rejects, and the leader stays', async () => {
    const electorate = new Electorate()
    const { election, events } = await electorate.lead({ rank: 0 })
    await electorate.pass(10)
    await expect(election.transferTo('best')).rejects.toThrow(LeaseConflictError)
    await expect(election.transferTo('nobody')).rejects.toThrow("'nobody' is no candidate that is ready")
    await electorate.pass(INTERVAL)
    expect(events).toEqual(['elected 1'])
  })

  it('of a process that does not lead rejects, and a wrong target too', async () => {
    const electorate = new Electorate()
    await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 1 })
    await electorate.pass(10)
    await expect(second.election.transferTo('best')).rejects.toThrow('does not lead')
    await expect(second.election.transferTo('')).rejects.toThrow(LeaseConfigurationError)
    await expect(second.election.transferTo(1 as never)).rejects.toThrow(LeaseConfigurationError)
  })

  it('of work that does not end in time rejects, and hands over when it ends', async () => {
    const electorate = new Electorate()
    const options = { rank: 0, stopTimeout: 1_000, onElected: working(electorate, 5_000) }
    const first = await electorate.lead(options)
    const second = electorate.start({ rank: 1 })
    await electorate.pass(10)
    await expect(electorate.during(first.election.transferTo('best'))).rejects.toThrow(LeaseTimeoutError)
    expect(second.election.isLeader).toBe(false)
    await electorate.pass(5_000)
    expect(second.election.isLeader).toBe(true)
  })

  it('to a successor that has died leaves the name to the others after a ttl', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    let isDead = false
    electorate.start({ rank: 2 }, { plan: () => (isDead ? { kind: 'hang' } : undefined) })
    const third = electorate.start({ rank: 1 })
    await electorate.pass(10)
    isDead = true
    await first.election.transferTo('best')
    await electorate.pass(TTL / 2)
    expect(electorate.leaders).toEqual([])
    await electorate.pass(TTL)
    expect(third.election.isLeader).toBe(true)
  })

  it('to a candidate that stops at the same instant does not lock the name', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0, onElected: working(electorate, 60) })
    const second = electorate.start({ rank: 2 })
    await electorate.pass(10)
    const transferred = first.election.transferTo('best')
    await electorate.pass(30)
    const stopped = second.election.stop()
    await Promise.allSettled([electorate.during(transferred), electorate.during(stopped)])
    await electorate.pass(3 * INTERVAL)
    expect(first.election.isLeader).toBe(true)
  })

  it('looks again at a candidate after long work: one that has gone is not chosen', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0, onElected: working(electorate, 2_000) })
    const second = electorate.start({ rank: 2 })
    const third = electorate.start({ rank: 1 })
    await electorate.pass(10)
    const transferred = first.election.transferTo('best')
    await electorate.pass(1_000)
    await electorate.during(second.election.stop())
    expect(await electorate.during(transferred)).toMatchObject({ owner: 'candidate-2' })
    await electorate.pass(10)
    expect(third.election.isLeader).toBe(true)
  })

  it('an observer never sees the new leader with the metadata of the last one', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0, metadata: { at: 'first' } })
    let isSlow = false
    const plan = () => (isSlow ? ({ kind: 'hang' } as const) : undefined)
    electorate.start({ rank: 1, metadata: { at: 'second' } }, { plan })
    await electorate.pass(10)
    isSlow = true
    await first.election.transferTo('best')
    expect(await first.election.leader()).toEqual({ owner: 'candidate-1', term: 2n, metadata: {} })
    isSlow = false
    await electorate.pass(2 * INTERVAL)
    expect(await first.election.leader()).toEqual({ owner: 'candidate-1', term: 2n, metadata: { at: 'second' } })
  })

  it('may come back: the last leader is a candidate again at once', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 0 })
    await electorate.pass(10)
    for (const [from, to] of [
      [first, second],
      [second, first],
      [first, second],
    ] as const) {
      await from.election.transferTo('best')
      await electorate.pass(10)
      expect([from.election.isLeader, to.election.isLeader]).toEqual([false, true])
    }
  })
})

describe('without a transfer', () => {
  it('the best candidate that is ready leads next, also behind others in the queue', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 1 })
    const third = electorate.start({ rank: 5 })
    await electorate.pass(10)
    await electorate.during(first.election.stop())
    await electorate.pass(10)
    expect(third.election.isLeader).toBe(true)
    expect(second.events).toEqual([])
  })

  it('a higher rank does not take the leadership from a healthy leader', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    electorate.start({ rank: 1 })
    await electorate.pass(3 * TTL)
    expect(first.events).toEqual(['elected 1'])
  })

  it('with preempt, the leader transfers to a candidate of a higher rank', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 1, preempt: true })
    electorate.start({ rank: 1 })
    await electorate.pass(2 * INTERVAL)
    expect(first.events).toEqual(['elected 1'])
    const third = electorate.start({ rank: 2 })
    // The leader looks once in an interval, and then shows whom it has chosen.
    await electorate.pass(2 * INTERVAL)
    expect(third.election.isLeader).toBe(true)
    expect(first.events).toEqual(['elected 1', 'resigned 1'])
  })
})

describe('stop with transfer', () => {
  it('transfers the leadership, and does not campaign again', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 0 })
    await electorate.pass(10)
    await electorate.during(first.election.stop({ transfer: 'best' }))
    await electorate.pass(0)
    expect(second.events).toEqual(['elected 2'])
    expect(await second.election.candidates()).toEqual([])
  })

  it('frees the name if there is no candidate', async () => {
    const electorate = new Electorate()
    const { election, errors } = await electorate.lead({ rank: 0 })
    await electorate.during(election.stop({ transfer: 'best' }))
    expect(await electorate.store.read('job', call)).toMatchObject({ state: 'available' })
    expect(errors).toEqual([])
  })

  it('of a standby only stops', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ rank: 0 })
    const second = electorate.start({ rank: 0 })
    await electorate.pass(10)
    await electorate.during(second.election.stop({ transfer: 'best' }))
    expect(first.events).toEqual(['elected 1'])
  })
})

describe('a store that lacks an ability', () => {
  it.each(['list', 'change'])('%s: the options that need it are refused, and transferTo rejects', async (ability) => {
    const electorate = new Electorate()
    const store = new FaultyStore(electorate.store, { clock: electorate.clock })
    Object.assign(store, { [ability]: undefined })
    for (const options of [{ rank: 1 }, { preempt: true }, { advertise: true }]) {
      expect(() => electorate.create(options, { store })).toThrow(LeaseConfigurationError)
    }
    const { election } = electorate.create({ prepare: () => {} }, { store })
    election.start()
    await electorate.pass(10)
    expect(election.isLeader).toBe(true)
    await expect(election.transferTo('best')).rejects.toThrow(LeaseConfigurationError)
    await expect(election.candidates()).rejects.toThrow(LeaseConfigurationError)
    await electorate.during(election.stop())
  })

  it('stop with a transfer frees the name all the same, and reports why', async () => {
    const electorate = new Electorate()
    const store = new FaultyStore(electorate.store, { clock: electorate.clock })
    Object.assign(store, { change: undefined })
    const { election, events } = electorate.create({}, { store })
    const errors: unknown[] = []
    election.on('error', (error) => errors.push(error))
    election.start()
    await electorate.pass(10)
    await electorate.during(election.stop({ transfer: 'best' }))
    expect(events).toEqual(['elected 1', 'resigned 1'])
    expect(errors).toEqual([expect.any(LeaseConfigurationError)])
    const next = electorate.create({})
    next.election.start()
    await electorate.pass(10)
    expect(next.events).toEqual(['elected 2'])
    await electorate.during(next.election.stop())
  })

  it.each([
    [{ rank: Number.NaN }, 'rank must be a finite number'],
    [{ prepare: 1 }, 'prepare must be a function'],
    [{ preempt: 'yes' }, 'preempt must be'],
    [{ advertise: 1 }, 'advertise must be'],
  ])('an option that is not valid is refused: %o', (options, message) => {
    expect(() => new Electorate().create(options as object)).toThrow(message)
  })
})
