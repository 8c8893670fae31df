import { createLease, type LeaseLost, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { EventLoop } from './support/event-loop.js'
import { silentLogger } from './support/held-lease.js'

const timeouts = { heartbeatTimeout: 1_500, heartbeatInterval: 300, operationTimeout: 300 }
const MINUTE = 60_000

type Busy = (loop: EventLoop, turn: number) => void

const inImmediates: Busy = (loop, turn) => {
  loop.block(turn)
  loop.schedule(0, () => inImmediates(loop, turn))
}

const inTimers: Busy = (loop, turn) => {
  loop.block(turn)
  loop.schedule(1, () => inTimers(loop, turn))
}

/** Answers at once. */
const atOnce = (loop: EventLoop): LeaseStore => new MemoryLeaseStore({ clock: loop })

/** Carries out its operations in the next turn, as `local` does; it renews one lease at a time, or many together. */
function inNextTurn(loop: EventLoop, isBatched: boolean): LeaseStore {
  const store = atOnce(loop)
  const turn = (): Promise<void> => new Promise((resolve) => void loop.schedule(0, resolve))
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'renewMany' && !isBatched) return undefined
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key === 'watch' || key === 'list') return value.bind(target)
      return async (...args: unknown[]) => {
        await turn()
        return await value.apply(target, args)
      }
    },
  })
}

/** What happens to leases in a minute in which each turn of the event loop takes so long. */
async function holdFor(open: (loop: EventLoop) => LeaseStore, busy: Busy, turn: number, leases = 7) {
  const loop = new EventLoop()
  const store = open(loop)
  const losses: LeaseLost[] = []
  const seen = { jeopardy: 0, renewed: 0 }
  for (let serial = 0; serial < leases; serial += 1) {
    const lease = createLease(store, `job ${serial}`, {
      ...timeouts,
      clock: loop,
      random: () => 0.5,
      logger: silentLogger,
    })
    lease.on('jeopardy', () => (seen.jeopardy += 1))
    lease.on('renewed', () => (seen.renewed += 1))
    // Their heartbeats are due at different instants.
    loop.schedule(1 + 37 * serial, () => void lease.acquire({ onLost: (lost) => losses.push(lost) }))
  }
  loop.schedule(0, () => busy(loop, turn))
  await loop.runUntil(MINUTE)
  return { ...seen, losses }
}

const stores = [
  ['answers at once', atOnce],
  ['answers in the next turn', (loop: EventLoop) => inNextTurn(loop, true)],
  ['answers in the next turn, without renewMany', (loop: EventLoop) => inNextTurn(loop, false)],
] as const

const kinds = [
  ['immediates', inImmediates],
  ['timers', inTimers],
] as const

describe('a busy event loop with turns of 250 ms, a limit of 300 ms and a store that', () => {
  for (const [how, open] of stores) {
    for (const [kind, busy] of kinds) {
      it(`${how} is no jeopardy (${kind})`, async () => {
        const { renewed, ...rest } = await holdFor(open, busy, 250)
        expect(rest).toEqual({ jeopardy: 0, losses: [] })
        expect(renewed).toBeGreaterThan(7 * 80)
      })

      it(`${how} loses no lease with turns of 400 ms (${kind})`, async () => {
        const { losses } = await holdFor(open, busy, 400)
        expect(losses).toEqual([])
      })
    }
  }
})
