import {
  createLease,
  LeaseConfigurationError,
  LeaseNameError,
  type LeaseStore,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'
import { type ClaimedTick, Once, ScheduleControl, TickClaims, type TickClaimsOptions } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, seededFaults, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { holderUnknown } from '../support/holder-unknown.js'
import { createPlace, Fleet, instant, MINUTE, withoutMetadata } from './fleet.js'

/** Machines of one time, with an instance of `TickClaims` on each. */
class Claimers {
  readonly fleet = new Fleet()
  readonly memory = new MemoryLeaseStore({ clock: this.fleet.server })
  readonly errors: unknown[] = []
  readonly lines: string[] = []

  /** `skew`: by how much its wall clock is ahead, in milliseconds. */
  create(owner: string, options: TickClaimsOptions = {}, store: LeaseStore = this.memory, skew = 0): TickClaims {
    const clock = new VirtualClock({ time: this.fleet.time, skew })
    const logger = { ...silentLogger, warn: (line: string) => void this.lines.push(line) }
    const now = (): Date => new Date(clock.wall())
    const claims = new TickClaims(store, { owner, clock, now, logger, ...options })
    claims.on('error', (error) => this.errors.push(error))
    onTestFinished(async () => {
      await this.settled(claims.stop({ timeout: 0 })).catch(() => {})
    })
    return claims
  }

  /** A way to the store that a test can cut off. */
  line(): { store: FaultyStore; isCut: boolean } {
    const plan = (): { kind: 'fail-before' } | undefined => (line.isCut ? { kind: 'fail-before' } : undefined)
    const line = { store: new FaultyStore(this.memory, { plan, clock: this.fleet.server }), isCut: false }
    return line
  }

  /** Waits for something that takes virtual time. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    expect(await this.fleet.time.advanceUntil(() => isOver, 60 * MINUTE)).toBe(true)
    return await promise
  }

  async claim(claims: TickClaims, minute: number, job = 'report'): Promise<ClaimedTick | undefined> {
    return await this.settled(claims.claim(job, instant(minute)))
  }

  /** Claims the tick and ends its run. Resolves with whether it was claimed. */
  async run(claims: TickClaims, minute: number, job = 'report'): Promise<boolean> {
    const tick = await this.claim(claims, minute, job)
    if (tick !== undefined) await this.settled(tick.end())
    return tick !== undefined
  }
}

describe('the recorded tick decides', () => {
  it('refuses a tick that has run, after its run has ended', async () => {
    const claimers = new Claimers()
    const [ada, ben] = [claimers.create('ada'), claimers.create('ben')]
    expect(await claimers.run(ada, 10)).toBe(true)
    expect(await claimers.run(ben, 10)).toBe(false)
    expect(await claimers.run(ada, 10)).toBe(false)
    expect(await claimers.run(ben, 20)).toBe(true)
  })

  it('refuses every tick before the recorded one', async () => {
    const claimers = new Claimers()
    const [ahead, behind] = [claimers.create('ahead'), claimers.create('behind')]
    expect(await claimers.run(ahead, 30)).toBe(true)
    expect(await claimers.run(behind, 10)).toBe(false)
    expect(await claimers.run(behind, 20)).toBe(false)
    expect(await claimers.run(behind, 40)).toBe(true)
  })

  it('gives one tick to one of five that ask at the same moment', async () => {
    const claimers = new Claimers()
    const instances = [1, 2, 3, 4, 5].map((owner) => claimers.create(`owner ${owner}`))
    for (const minute of [10, 20, 30]) {
      const asked = instances.map((claims) => claims.claim('report', instant(minute)))
      const ticks = (await claimers.settled(Promise.all(asked))).filter((tick) => tick !== undefined)
      expect(ticks).toHaveLength(1)
      await claimers.settled(Promise.all(ticks.map((tick) => tick.end())))
    }
  })

  it('refuses a tick whose process has died in the middle, also after its lease has expired', async () => {
    const claimers = new Claimers()
    const line = claimers.line()
    const [dying, ben] = [claimers.create('dying', { heartbeatTimeout: 12_000 }, line.store), claimers.create('ben')]
    expect(await claimers.claim(dying, 10)).toBeDefined()
    line.isCut = true
    await claimers.fleet.time.advance(60_000)
    expect(await claimers.run(ben, 10)).toBe(false)
    expect(await claimers.run(ben, 20)).toBe(true)
  })

  it('refuses a tick while its run lasts longer than the ttl: heartbeats keep the job', async () => {
    const claimers = new Claimers()
    const [ada, ben] = [claimers.create('ada', { heartbeatTimeout: 12_000 }), claimers.create('ben')]
    const tick = await claimers.claim(ada, 10)
    for (let minute = 11; minute < 20; minute += 1) {
      await claimers.fleet.time.advance(MINUTE)
      expect(await claimers.run(ben, 10)).toBe(false)
      expect(tick?.checkLease()).toBe(true)
    }
  })
})

describe('a tick that becomes due during a run of its job', () => {
  it('is left out on the same instance, with one warning, and on another one', async () => {
    const claimers = new Claimers()
    const [ada, ben] = [claimers.create('ada'), claimers.create('ben')]
    const tick = await claimers.claim(ada, 10)
    expect(await claimers.claim(ada, 20)).toBeUndefined()
    expect(await claimers.claim(ada, 30)).toBeUndefined()
    expect(await claimers.claim(ben, 30)).toBeUndefined()
    expect(claimers.lines).toEqual([
      "'report': the run of the tick 2026-01-01T00:10:00.000Z is in progress here, so the ticks that become due meanwhile are left out; set atMostFor to limit a run",
    ])
    await claimers.settled(tick?.end() ?? Promise.reject(new Error('not claimed')))
    expect(await claimers.run(ben, 40)).toBe(true)
  })

  it('is run if the run ends while it is asked for', async () => {
    const claimers = new Claimers()
    const ada = claimers.create('ada')
    const tick = await claimers.claim(ada, 10)
    const [, next] = await claimers.settled(Promise.all([tick?.end(), ada.claim('report', instant(20))]))
    expect(next?.due).toEqual(instant(20))
  })

  it('is run after atMostFor: the run before is aborted, and its job is free', async () => {
    const claimers = new Claimers()
    const [ada, ben] = [claimers.create('ada', { atMostFor: MINUTE }), claimers.create('ben')]
    const tick = await claimers.claim(ada, 10)
    await claimers.fleet.time.advance(2 * MINUTE)
    expect(tick?.signal.aborted).toBe(true)
    expect(await claimers.run(ben, 20)).toBe(true)
    await claimers.settled(tick?.end() ?? Promise.resolve())
  })

  it('does not delay other jobs', async () => {
    const claimers = new Claimers()
    const ada = claimers.create('ada')
    await claimers.claim(ada, 10)
    expect(await claimers.run(ada, 10, 'invoices')).toBe(true)
  })
})

describe('a store that fails', () => {
  it('lets no tick run while it is down, and reports each', async () => {
    const claimers = new Claimers()
    const line = claimers.line()
    const ada = claimers.create('ada', {}, line.store)
    line.isCut = true
    expect(await claimers.run(ada, 10)).toBe(false)
    expect(claimers.errors.map(String)).toEqual([
      "LeaseUnavailableError: the tick 2026-01-01T00:10:00.000Z of 'report' is not run: the connection was lost",
    ])
    line.isCut = false
    expect(await claimers.run(ada, 20)).toBe(true)
  })

  it('is unreachable until it has answered: a tick that is left out without a request is no answer', async () => {
    const claimers = new Claimers()
    const line = claimers.line()
    const ada = claimers.create('ada', {}, line.store)
    const events: string[] = []
    ada.on('unreachable', () => events.push('unreachable')).on('reachable', () => events.push('reachable'))
    const tick = await claimers.claim(ada, 10)
    line.isCut = true
    await claimers.claim(ada, 10, 'invoices')
    await claimers.claim(ada, 20)
    expect(events).toEqual(['unreachable'])
    line.isCut = false
    await claimers.settled(tick?.end() ?? Promise.resolve())
    await claimers.run(ada, 30)
    expect(events).toEqual(['unreachable', 'reachable'])
  })

  it('lets no tick run that could not be recorded', async () => {
    const claimers = new Claimers()
    const store = new FaultyStore(claimers.memory, { clock: claimers.fleet.server })
    const ada = claimers.create('ada', {}, store)
    store.inject({ kind: 'fail-before' }, 'update')
    store.inject({ kind: 'fail-before' }, 'update')
    const isRun = await claimers.run(ada, 10)
    // The record says the same as the claim.
    expect((await readLease(claimers.memory, 'report'))?.metadata.tick !== undefined).toBe(isRun)
  })

  it('gives the tick to another instance if the holder dies before it has recorded it', async () => {
    const claimers = new Claimers()
    const holder = createLease(claimers.memory, 'report', {
      owner: 'dying',
      clock: claimers.fleet.server,
      strategy: 'manual',
      heartbeatTimeout: 5_000,
    })
    expect(await claimers.settled(holder.acquire())).toBe(true)
    expect(await claimers.run(claimers.create('ben'), 10)).toBe(true)
  })
})

describe('the record', () => {
  it('has the last runs, as that of a Schedule', async () => {
    const { control, fleet, memory, settled } = createPlace()
    const clock = new VirtualClock({ time: fleet.time })
    const claims = new TickClaims(memory, {
      owner: 'ada',
      clock,
      now: () => new Date(clock.wall()),
      logger: silentLogger,
    })
    claims.on('error', () => {})
    const tick = await settled(claims.claim('report', instant(10)))
    await settled(tick?.end(new Error('no paper')) ?? Promise.resolve())
    const { last } = await settled(control.read())
    expect(last).toMatchObject({ owner: 'ada', outcome: 'failed', error: 'no paper' })
    await settled(claims.stop())
  })

  it('is obeyed if an operator has paused the job', async () => {
    const claimers = new Claimers()
    const clock = claimers.fleet.server
    const control = new ScheduleControl(claimers.memory, 'report', { clock, now: () => new Date(clock.wall()) })
    await claimers.settled(control.pause({ reason: 'no paper' }))
    const ada = claimers.create('ada')
    expect(await claimers.run(ada, 10)).toBe(false)
    await claimers.settled(control.resume())
    expect(await claimers.run(ada, 20)).toBe(true)
    expect(claimers.errors).toEqual([])
  })

  it('is obeyed while the store does not know the record of the operator yet', async () => {
    const claimers = new Claimers()
    const clock = claimers.fleet.server
    const control = new ScheduleControl(claimers.memory, 'report', { clock, now: () => new Date(clock.wall()) })
    await claimers.settled(control.pause({ reason: 'no paper' }))
    const ada = claimers.create('ada', {}, holderUnknown(claimers.memory))
    expect(await claimers.run(ada, 10)).toBe(false)
  })

  it('runs no tick while nobody can know whether an operator has paused the job', async () => {
    const claimers = new Claimers()
    const unknown = holderUnknown(claimers.memory, { always: true })
    const store = viewOf(claimers.memory, {
      read: (own) => (name, call) => (name === 'report/control' ? unknown.read(name, call) : own(name, call)),
    })
    expect(await claimers.run(claimers.create('ada', {}, store), 10)).toBe(false)
    const cause = expect.objectContaining({ code: 'unavailable', leaseName: 'report/control' })
    expect(claimers.errors).toEqual([expect.objectContaining({ code: 'unavailable', cause })])
  })

  it('cannot be run by hand: nobody would attend to the request', async () => {
    const claimers = new Claimers()
    expect(await claimers.run(claimers.create('ada'), 10)).toBe(true)
    const control = new ScheduleControl(claimers.memory, 'report', { clock: claimers.fleet.server })
    const refused = claimers.settled(control.runNow())
    await expect(refused).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(refused).rejects.toThrow("another scheduler, such as node-cron, decides when 'report' is due")
    expect(await readLease(claimers.memory, 'report/control')).toBeUndefined()
  })

  it('is not overwritten if another recipe has the name', async () => {
    const claimers = new Claimers()
    const once = new Once(claimers.memory, { clock: claimers.fleet.server })
    await claimers.settled(once.run('report', async () => 'done'))
    expect(await claimers.run(claimers.create('ada'), 10)).toBe(false)
    expect(claimers.errors.map(String)).toEqual([expect.stringContaining("a name of the recipe 'once'")])
    const record = await readLease(claimers.memory, 'report')
    expect(record?.metadata.recipe).toBe('once')
  })

  it('has the name of the job after the name of the claims', async () => {
    const claimers = new Claimers()
    expect(await claimers.run(claimers.create('ada', { name: 'billing' }), 10)).toBe(true)
    expect(await readLease(claimers.memory, 'billing/report')).toBeDefined()
  })
})

describe('bad input', () => {
  it('rejects a store without metadata and invalid options when it is built', () => {
    const build = (options: object) => () => new TickClaims(new MemoryLeaseStore(), options)
    expect(() => new TickClaims(withoutMetadata(new Fleet().server))).toThrow(LeaseConfigurationError)
    expect(() => new TickClaims(withoutMetadata(new Fleet().server))).toThrow('keeps none: use a store or a layout')
    expect(build({ atMostFor: 0 })).toThrow('atMostFor must be a positive number of milliseconds')
    expect(build({ heartbeatTimeout: -1 })).toThrow('heartbeatTimeout')
    expect(build({ prefix: 'a' })).toThrow("no option 'prefix'")
    expect(build({ now: 5 })).toThrow('now must be a function')
  })

  it('reports a job that is no lease name and a tick that is no date, and runs nothing', async () => {
    const claimers = new Claimers()
    const ada = claimers.create('ada')
    expect(await ada.claim('x'.repeat(2_000), instant(10))).toBeUndefined()
    expect(await ada.claim('', instant(10))).toBeUndefined()
    expect(await ada.claim('report', new Date('never'))).toBeUndefined()
    expect(await ada.claim('report', instant(10), { heartbeatTimeout: -5 })).toBeUndefined()
    expect(claimers.errors.map((error) => (error as Error).constructor)).toEqual([
      LeaseNameError,
      LeaseConfigurationError,
      LeaseConfigurationError,
      LeaseConfigurationError,
    ])
  })
})

describe('stop', () => {
  it('aborts the run, frees its job, and claims nothing any more', async () => {
    const claimers = new Claimers()
    const [ada, ben] = [claimers.create('ada'), claimers.create('ben')]
    const tick = await claimers.claim(ada, 10)
    await claimers.settled(ada.stop({ timeout: 1_000 }))
    expect(tick?.signal.aborted).toBe(true)
    expect(await claimers.run(ben, 10)).toBe(false)
    expect(await claimers.run(ben, 20)).toBe(true)
    expect(await claimers.run(ada, 30)).toBe(false)
    expect(String(claimers.errors.at(-1))).toContain('was stopped: make another one')
  })

  it('lets a run end within its time', async () => {
    const claimers = new Claimers()
    const ada = claimers.create('ada')
    const tick = await claimers.claim(ada, 10)
    const stopped = ada.stop({ timeout: MINUTE })
    await claimers.fleet.time.advance(1_000)
    await claimers.settled(Promise.all([tick?.end(), stopped]))
    expect(claimers.fleet.time.now).toBeLessThan(10_000)
  })
})

/** Three instances with clocks up to six minutes apart come to 20 ticks, and each way to the store has faults. */
async function comeToTicks(seed: number): Promise<{ claimed: number[]; overlaps: number }> {
  const claimers = new Claimers()
  const { time, server } = claimers.fleet
  const claimed: number[] = []
  const running = new Map<ClaimedTick, number>()
  let overlaps = 0
  for (const [index, skew] of [0, 205_000, -150_000].entries()) {
    const plan = seededFaults(seed * 3 + index, { rate: 0.1 })
    const store = new FaultyStore(claimers.memory, { clock: server, plan })
    const claims = claimers.create(`owner ${index}`, { heartbeatTimeout: 30_000 }, store, skew)
    for (let minute = 1; minute <= 20; minute += 1) {
      if (minute * MINUTE < skew) continue
      server.schedule(minute * MINUTE - skew, async () => {
        const tick = await claims.claim('report', instant(minute))
        if (tick === undefined) return
        claimed.push(minute)
        if ([...running.keys()].some((other) => other.checkLease())) overlaps += 1
        running.set(tick, minute)
        // From a moment to more than two ticks.
        server.schedule(((seed * 7 + minute * 13) % 10) * 15_000, () => {
          running.delete(tick)
          void tick.end()
        })
      })
    }
  }
  await time.advance(25 * MINUTE)
  return { claimed, overlaps }
}

it('claims no tick twice and no tick after a later one, and runs do not overlap, in 100 fleets with faults', async () => {
  let count = 0
  for (let seed = 1; seed <= 100; seed += 1) {
    const { claimed, overlaps } = await comeToTicks(seed)
    expect(claimed, `seed ${seed}`).toEqual([...new Set(claimed)].toSorted((one, other) => one - other))
    expect(overlaps, `seed ${seed}`).toBe(0)
    count += claimed.length
  }
  expect(count).toBeGreaterThan(500)
}, 60_000)
