import { type Clock, type Grant, LeaseTimeoutError } from '@leasehold/core'
import type { RenewOutcome, StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Admission } from '../../src/engine/admission.js'
import { RenewalBatch } from '../../src/engine/renewal-batch.js'
import { grant } from '../support/transitions.js'

interface Call {
  readonly grants: readonly Grant[]
  readonly call: StoreCall
  readonly answer: (outcomes: readonly RenewOutcome[]) => void
  readonly fail: (error: unknown) => void
}

function setUp(timersOf: (clock: VirtualClock) => Clock = (clock) => clock) {
  const clock = new VirtualClock()
  const calls: Call[] = []
  const outcomes: unknown[] = []
  const late: number[] = []
  const broken = new Set<number>()
  const renewMany = (grants: readonly Grant[], call: StoreCall) =>
    new Promise<readonly RenewOutcome[]>((answer, fail) => calls.push({ grants, call, answer, fail }))
  const admission = new Admission(clock)
  const batch = new RenewalBatch({ kind: undefined, renewMany }, timersOf(clock), admission)
  const renew = (id: number, limit = 100): void => {
    const check = (): void => {
      if (broken.has(id)) throw new Error(`lease ${id} is broken`)
    }
    const note = (op: number, outcome: unknown): void => {
      check()
      outcomes.push([op, outcome])
    }
    const onTimer = (): void => {
      check()
      late.push(id)
    }
    const caller = { onRenewed: note, onRenewalFailed: note, onTimer }
    batch.add(caller, id, { ...grant, grantId: `g${id}` }, limit, limit)
  }
  return { admission, broken, clock, calls, outcomes, late, renew }
}

const renewed: RenewOutcome = { renewed: true }
const taken: RenewOutcome = { renewed: false, reason: 'taken' }

describe('the heartbeats of one turn of the event loop', () => {
  it('are one call, and each lease gets its outcome', async () => {
    const { clock, calls, outcomes, renew } = setUp()
    for (const id of [1, 2, 3]) renew(id)
    expect(calls).toEqual([])
    await clock.settle()
    expect(calls.map(({ grants }) => grants.map(({ grantId }) => grantId))).toEqual([['g1', 'g2', 'g3']])
    calls[0]?.answer([renewed, taken, renewed])
    await clock.settle()
    expect(outcomes).toEqual([
      [1, renewed],
      [2, taken],
      [3, renewed],
    ])
    expect(clock.pending).toBe(0)
  })

  it('are a different call from those of the next turn', async () => {
    const { clock, calls, renew } = setUp()
    renew(1)
    await clock.settle()
    renew(2)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([1, 1])
  })

  it('are up to 512 in one call, and one call in each turn', async () => {
    const { clock, calls, renew } = setUp()
    for (let id = 0; id < 1_100; id += 1) renew(id)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([512, 512, 76])
    expect(clock.pending).toBe(3)
  })

  it('are exactly one call when they fill it', async () => {
    const { clock, calls, renew } = setUp()
    for (let id = 0; id < 512; id += 1) renew(id)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([512])
  })

  it('fail when the call fails', async () => {
    const { clock, calls, outcomes, renew } = setUp()
    for (const id of [1, 2]) renew(id)
    await clock.settle()
    calls[0]?.fail('reset')
    await clock.settle()
    expect(outcomes).toEqual([
      [1, 'reset'],
      [2, 'reset'],
    ])
    expect(clock.pending).toBe(0)
  })

  it('fail when the store returns fewer outcomes than grants', async () => {
    const { clock, calls, outcomes, renew } = setUp()
    for (const id of [1, 2]) renew(id)
    await clock.settle()
    calls[0]?.answer([renewed])
    await clock.settle()
    expect(outcomes).toEqual([
      [1, renewed],
      [2, new Error('renewMany answered fewer outcomes than grants')],
    ])
  })

  it('fail one by one where the store returns an error, and from the first outcome that cannot be read', async () => {
    const { clock, calls, outcomes, renew } = setUp()
    for (const id of [1, 2, 3, 4]) renew(id)
    await clock.settle()
    const failure = new Error('out of reach')
    const answers = [renewed, failure as unknown as RenewOutcome, renewed, renewed]
    const unreadable = new Error('unreadable')
    Object.defineProperty(answers, 2, {
      get: () => {
        throw unreadable
      },
    })
    calls[0]?.answer(answers)
    await clock.settle()
    expect(outcomes).toEqual([
      [1, renewed],
      [2, failure],
      [3, unreadable],
      [4, unreadable],
    ])
  })

  it('are answered and given up though a lease throws, and its error is thrown out of a timer', async () => {
    const { broken, clock, calls, outcomes, late, renew } = setUp()
    for (const id of [1, 2, 3]) renew(id)
    await clock.settle()
    broken.add(2)
    calls[0]?.answer([renewed, renewed, taken])
    await expect(clock.settle()).rejects.toThrow('lease 2 is broken')
    expect(outcomes).toEqual([
      [1, renewed],
      [3, taken],
    ])
    for (const id of [1, 2, 3]) renew(id)
    await expect(clock.advance(100)).rejects.toThrow('lease 2 is broken')
    expect(late).toEqual([1, 3])
    await clock.settle()
    expect(clock.pending).toBe(0)
  })

  it('are a call for each time limit, and are given up together when it has come', async () => {
    const { clock, calls, late, renew } = setUp()
    for (const [id, limit] of [100, 300, 100].entries()) renew(id, limit)
    await clock.advance(99)
    expect(calls.map(({ grants }) => grants.map(({ grantId }) => grantId))).toEqual([['g0', 'g2'], ['g1']])
    expect([calls[0]?.call.aborted, late]).toEqual([false, []])
    await clock.advance(1)
    expect(calls[0]?.call.signal.reason).toEqual(new LeaseTimeoutError('the heartbeats timed out'))
    expect([late, calls[1]?.call.aborted]).toEqual([[0, 2], false])
    await clock.advance(200)
    expect(late).toEqual([0, 2, 1])
    expect(clock.pending).toBe(0)
  })

  it('are given up when their limit has passed since the store was asked', async () => {
    const { clock, late, renew } = setUp()
    renew(1)
    clock.block(5)
    renew(2)
    await clock.advance(99)
    expect(late).toEqual([])
    await clock.advance(1)
    expect(late).toEqual([1, 2])
  })

  it('are not given up before their limit, though a timer fires early', async () => {
    const early = (clock: VirtualClock): Clock => ({
      now: () => clock.now(),
      schedule: (delay, task) => clock.schedule(delay > 1 ? delay - 1 : delay, task),
    })
    const { clock, late, renew } = setUp(early)
    renew(1)
    await clock.advance(99)
    expect(late).toEqual([])
    await clock.advance(1)
    expect(late).toEqual([1])
  })

  it('are aborted one turn later when the event loop was blocked, so that answers are read first', async () => {
    const silent = setUp()
    const answered = setUp()
    for (const { clock, renew } of [silent, answered]) {
      renew(1)
      await clock.settle()
      clock.block(1_000)
    }
    answered.clock.schedule(0, () => answered.calls[0]?.answer([renewed]))
    await answered.clock.settle()
    expect([answered.outcomes, answered.calls[0]?.call.aborted]).toEqual([[[1, renewed]], false])
    await silent.clock.settle()
    expect([silent.outcomes, silent.late, silent.calls[0]?.call.aborted]).toEqual([[], [1], true])
    expect(answered.late).toEqual([])
    expect([silent.clock.pending, answered.clock.pending]).toEqual([0, 0])
  })

  it('make room when they are aborted, though the store does not end the call', async () => {
    const { admission, clock, renew } = setUp()
    const admitted: number[] = []
    const leases = [1, 2].map((id) => ({ onTimer: () => void admitted.push(id) }))
    for (let id = 0; id < 1_024; id += 1) renew(id)
    for (const lease of [...leases, ...leases]) admission.delay(lease)
    await clock.advance(99)
    expect([admission.isFull, admitted]).toEqual([true, []])
    await clock.advance(1)
    await clock.settle()
    expect([admission.isFull, admitted]).toEqual([false, [1, 2]])
    expect(clock.pending).toBe(0)
  })
})
