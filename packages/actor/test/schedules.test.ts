import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createActor, SimulatedClock } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { message, microtasks, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const steps = [
  'send',
  'burst',
  'grant',
  'grant and settle',
  'deny',
  'fail',
  'lose',
  'lose while handling',
  'stop while handling',
  'become doubtful',
  'become doubtful while handling',
  'become valid',
  'pass time',
  'microtask',
  'settle',
  'stop',
] as const
type Step = (typeof steps)[number]

// Frequent steps are listed several times. A stop ends the schedule, so it is rare.
const weights: Partial<Record<Step, number>> = { send: 12, burst: 6, grant: 4, 'grant and settle': 4, microtask: 4 }
const step = fc.oneof(...steps.map((value) => ({ arbitrary: fc.constant(value), weight: weights[value] ?? 2 })))

const setting = fc.record({
  onLeaseLost: fc.constantFrom('stop' as const, 'reacquire' as const),
  overflow: fc.constantFrom('drop-newest' as const, 'drop-oldest' as const, 'fail' as const),
  capacity: fc.constantFrom(1, 3, 1_000),
  releaseFails: fc.boolean(),
})
type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never

/** A guarded recorder, driven step by step. Records every violation of the rules. */
class Schedule {
  readonly lease = new ScriptedLease()
  readonly recorder = new Recorder()
  readonly clock = new SimulatedClock()
  readonly dropped: number[] = []
  readonly violations: string[] = []
  readonly actor
  sent = 0
  #onNext: (() => void) | undefined
  #stopping = false

  constructor({ onLeaseLost, overflow, capacity, releaseFails }: Setting) {
    const { lease, recorder } = this
    if (releaseFails) lease.onRelease = () => Promise.reject(new Error('the store is away'))
    recorder.onHandle = () => this.#onHandle()
    const logic = leaseGuarded(recorder.worker, {
      lease,
      retryInterval: 1_000,
      onLeaseLost,
      stash: { capacity, overflow },
      onDropped: ({ id }) => this.dropped.push(id),
    })
    this.actor = createActor(logic, { clock: this.clock, logger: () => {} })
    this.actor.subscribe({ error: () => {} })
    this.actor.start()
  }

  get isRunning(): boolean {
    return this.actor.getSnapshot().status === 'active'
  }

  async take(next: Step): Promise<void> {
    const { lease, recorder, actor } = this
    const handling = /^(.*) while handling$/.exec(next)?.[1]
    if (handling !== undefined) this.#onNext = () => this.#now(handling)
    else if (next === 'send') this.send()
    else if (next === 'burst') for (let count = 0; count < 5; count += 1) this.send()
    else if (next === 'microtask') await microtasks(1)
    else if (next === 'settle') await settle()
    else if (next === 'grant and settle') {
      this.#now('grant')
      await settle()
    } else this.#now(next)
    if (recorder.alive > 1) this.violations.push('two workers at once')
    if (recorder.alive > 0 && !lease.isHeld) this.violations.push(`a worker runs without the lease after '${next}'`)
    if (actor.getSnapshot().matches('active') && this.isRunning && recorder.alive === 0) {
      this.violations.push(`active without a worker after '${next}'`)
    }
  }

  send(): void {
    if (!this.isRunning) return
    this.sent += 1
    this.actor.send(message(this.sent))
  }

  #now(action: string): void {
    const { lease, actor, clock } = this
    if (action === 'grant' && lease.isAsked) lease.grant()
    if (action === 'deny' && lease.isAsked) lease.deny()
    if (action === 'fail' && lease.isAsked) lease.fail(new Error('unknown'))
    if (action === 'lose' && lease.isHeld) lease.lose()
    if (action === 'become doubtful') lease.valid = false
    if (action === 'become valid') lease.valid = true
    if (action === 'pass time') clock.increment(1_000)
    if (action === 'stop') {
      this.#stopping = true
      actor.stop()
    }
  }

  #onHandle(): void {
    if (!this.lease.checkLease()) this.violations.push('a message was handled without a valid lease')
    if (this.#stopping) this.violations.push('a message was handled after the stop')
    const next = this.#onNext
    this.#onNext = undefined
    next?.()
  }
}

async function runSchedule(given: Setting, taken: readonly Step[]): Promise<Schedule> {
  const schedule = new Schedule(given)
  for (const next of taken) await schedule.take(next)
  await settle()
  return schedule
}

/** Checks that no worker runs, every grant ended in a loss or a release, and no message was handled or dropped twice. */
async function checkEnded(schedule: Schedule): Promise<void> {
  const { lease, recorder, actor, dropped, sent } = schedule
  actor.stop()
  if (lease.isAsked) lease.grant()
  await settle()
  schedule.clock.increment(10_000)
  await settle()
  expect(recorder.alive).toBe(0)
  expect(lease.grants).toBe(lease.losses + lease.freed)
  expect(lease.isAsked).toBe(false)
  const seen = [...recorder.handled, ...dropped].sort((a, b) => a - b)
  // XState discards the mailbox of an actor that is stopped by its own handler, so messages can be missing.
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.every((id) => id >= 1 && id <= sent)).toBe(true)
}

const schedules = fc.array(step, { minLength: 1, maxLength: 40 })

describe('in any order of sends, grants, refusals, losses, stops and time', () => {
  it('messages are handled in order, once, by one worker, and only while the lease is valid', async () => {
    await fc.assert(
      fc.asyncProperty(setting, schedules, async (given, taken) => {
        const schedule = await runSchedule(given, taken)
        expect(schedule.violations).toEqual([])
        const { handled } = schedule.recorder
        expect(handled).toEqual([...handled].sort((a, b) => a - b))
        await checkEnded(schedule)
        expect(schedule.violations).toEqual([])
      }),
      { numRuns: 8_000 },
    )
  })

  it('with a large stash and the policy reacquire, every message is eventually handled', async () => {
    const patient = fc.constant({
      onLeaseLost: 'reacquire',
      overflow: 'fail',
      capacity: 1_000,
      releaseFails: false,
    } as const)
    const unstopped = schedules.map((taken) =>
      taken.filter((next) => next !== 'stop' && next !== 'stop while handling'),
    )
    await fc.assert(
      fc.asyncProperty(patient, unstopped, async (given, taken) => {
        const schedule = await runSchedule(given, taken)
        // Repeated for steps that were delayed until a message is handled.
        for (let round = 0; round < 3; round += 1) {
          for (const next of [
            'pass time',
            'settle',
            'grant and settle',
            'become valid',
            'pass time',
            'settle',
          ] as const) {
            await schedule.take(next)
          }
        }
        expect(schedule.recorder.handled).toEqual(Array.from({ length: schedule.sent }, (_, index) => index + 1))
        expect(schedule.dropped).toEqual([])
        await checkEnded(schedule)
      }),
      { numRuns: 2_000 },
    )
  })
})
