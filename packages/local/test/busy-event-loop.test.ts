import { createLease, type LeaseLost } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, vi } from 'vitest'
import { EventLoop } from '../../core/test/support/event-loop.js'
import { LocalLeaseStore } from '../src/index.js'

const timeouts = { heartbeatTimeout: 1_500, heartbeatInterval: 300, operationTimeout: 300 }

/** In each turn, other code of the process computes for so long. */
function keepBusy(loop: EventLoop, turn: number): void {
  loop.block(turn)
  loop.schedule(0, () => keepBusy(loop, turn))
}

describe('a busy event loop', () => {
  it.for([
    [250, 0],
    [400, undefined],
  ] as const)('with turns of %i ms loses no lease', async ([turn, jeopardies], test) => {
    const loop = new EventLoop()
    // The store carries its operations out in an immediate.
    vi.stubGlobal('setImmediate', (task: () => void) => loop.immediate(task))
    test.onTestFinished(() => void vi.unstubAllGlobals())
    const store = new LocalLeaseStore({ folder: temporaryFolder(test), clock: loop, bootId: 'boot' })
    test.onTestFinished(() => store.close())
    const losses: LeaseLost[] = []
    let renewed = 0
    let jeopardy = 0
    for (let serial = 0; serial < 5; serial += 1) {
      const lease = createLease(store, `job ${serial}`, { ...timeouts, clock: loop, random: () => 0.5 })
      lease.on('renewed', () => (renewed += 1)).on('jeopardy', () => (jeopardy += 1))
      loop.schedule(1 + 37 * serial, () => void lease.acquire({ onLost: (lost) => losses.push(lost) }))
    }
    loop.schedule(0, () => keepBusy(loop, turn))
    await loop.runUntil(30_000)
    expect(losses).toEqual([])
    expect(renewed).toBeGreaterThan(5 * 20)
    if (jeopardies !== undefined) expect(jeopardy).toBe(jeopardies)
  })
})
