import { type Grant, LeaseTimeoutError } from '@leasehold/core'
import type { RenewOutcome, StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { alignToBatch, type HeartbeatSender, RenewalBatch } from '../../src/engine/renewal-batch.js'
import { grant } from '../support/transitions.js'

interface Call {
  readonly grants: readonly Grant[]
  readonly call: StoreCall
  readonly answer: (outcomes: readonly RenewOutcome[]) => void
  readonly fail: (error: unknown) => void
}

function setUp(): {
  clock: VirtualClock
  batch: RenewalBatch
  calls: Call[]
  sender: HeartbeatSender
  told: unknown[]
} {
  const clock = new VirtualClock()
  const calls: Call[] = []
  const told: unknown[] = []
  const renewMany = (grants: readonly Grant[], call: StoreCall) =>
    new Promise<readonly RenewOutcome[]>((answer, fail) => calls.push({ grants, call, answer, fail }))
  const sender: HeartbeatSender = {
    onRenewed: (op, outcome) => told.push([op, outcome]),
    onFailed: (op, error) => told.push([op, error]),
  }
  return { clock, batch: new RenewalBatch({ renewMany }, clock), calls, sender, told }
}

const renewed: RenewOutcome = { renewed: true }
const taken: RenewOutcome = { renewed: false, reason: 'taken' }

describe('the heartbeats of one turn of the event loop', () => {
  it('are one call, and each lease gets its outcome', async () => {
    const { clock, batch, calls, sender, told } = setUp()
    for (const op of [1, 2, 3]) batch.add(sender, op, { ...grant, grantId: `g${op}` }, 100)
    expect(calls).toEqual([])
    await clock.settle()
    expect(calls.map(({ grants }) => grants.map(({ grantId }) => grantId))).toEqual([['g1', 'g2', 'g3']])
    calls[0]?.answer([renewed, taken, renewed])
    await clock.settle()
    expect(told).toEqual([
      [1, renewed],
      [2, taken],
      [3, renewed],
    ])
    expect(clock.pending).toBe(0)
  })

  it('are a different call from those of the next turn', async () => {
    const { clock, batch, calls, sender } = setUp()
    batch.add(sender, 1, grant, 100)
    await clock.settle()
    batch.add(sender, 2, grant, 100)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([1, 1])
  })

  it('are up to 512 in one call, and one call in each turn', async () => {
    const { clock, batch, calls, sender } = setUp()
    for (let op = 0; op < 1_100; op += 1) batch.add(sender, op, grant, 100)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([512, 512, 76])
    expect(clock.pending).toBe(3)
  })

  it('are exactly one call when they fill it', async () => {
    const { clock, batch, calls, sender } = setUp()
    for (let op = 0; op < 512; op += 1) batch.add(sender, op, grant, 100)
    await clock.settle()
    expect(calls.map(({ grants }) => grants.length)).toEqual([512])
  })

  it('fail when the call fails', async () => {
    const { clock, batch, calls, sender, told } = setUp()
    for (const op of [1, 2]) batch.add(sender, op, grant, 100)
    await clock.settle()
    calls[0]?.fail('reset')
    await clock.settle()
    expect(told).toEqual([
      [1, 'reset'],
      [2, 'reset'],
    ])
    expect(clock.pending).toBe(0)
  })

  it('fail when the store returns fewer outcomes than grants', async () => {
    const { clock, batch, calls, sender, told } = setUp()
    for (const op of [1, 2]) batch.add(sender, op, grant, 100)
    await clock.settle()
    calls[0]?.answer([renewed])
    await clock.settle()
    expect(told).toEqual([
      [1, renewed],
      [2, new Error('renewMany answered fewer outcomes than grants')],
    ])
  })

  it('are aborted at the longest of their time limits', async () => {
    const { clock, batch, calls, sender } = setUp()
    for (const limit of [100, 300, 200]) batch.add(sender, 1, grant, limit)
    await clock.advance(299)
    expect(calls[0]?.call.aborted).toBe(false)
    await clock.advance(1)
    expect(calls[0]?.call.signal.reason).toEqual(new LeaseTimeoutError('the heartbeats timed out'))
  })
})

describe('a planned heartbeat', () => {
  it('moves to the previous step of the clock, a power of two of about an eighth of its distance', () => {
    // Steps of 64 ms for a distance of 600 ms.
    expect(alignToBatch(0, 600)).toBe(576)
    expect(alignToBatch(5, 600)).toBe(571)
    expect(alignToBatch(1_000, 600)).toBe(600)
    // Steps of 128 ms from a distance of 1,024 ms.
    expect(alignToBatch(0, 1_023)).toBe(960)
    expect(alignToBatch(0, 1_055)).toBe(1_024)
  })

  it('is never later than planned, and never immediate', () => {
    expect(alignToBatch(0.5, 3)).toBe(2.5)
    expect(alignToBatch(0.5, 0.25)).toBe(0.25)
    expect(alignToBatch(0.5, 0.5)).toBe(0.5)
    expect(alignToBatch(1.5, 0.5)).toBe(0.5)
    expect(alignToBatch(1, 0.5)).toBe(0.5)
  })
})
