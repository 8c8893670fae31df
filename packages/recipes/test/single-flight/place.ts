import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { type Refreshing, SingleFlight, type SingleFlightOptions } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { expect } from 'vitest'

export const TTL = 10_000
export const times = { freshFor: 60_000, staleFor: 30_000 }

/** Processes over one store in memory, in virtual time. Each refresh returns a number, and takes a second. */
export function createPlace(storeOptions: Partial<Pick<LeaseStore, 'update'>> & { readonly metadata?: number } = {}) {
  const clock = new VirtualClock()
  const inner = new MemoryLeaseStore({ clock })
  const calls: string[] = []
  const fleet = { isDown: false }
  const store = new FaultyStore(inner, {
    clock,
    plan: ({ operation }) => {
      calls.push(operation)
      return fleet.isDown ? { kind: 'fail-before' } : undefined
    },
  })
  const { metadata, ...methods } = storeOptions
  const limits = metadata === undefined ? store.limits : { ...store.limits, metadata }
  Object.assign(store, { kind: 'memory', limits, ...methods })
  const errors: unknown[] = []
  const create = (options: SingleFlightOptions = {}): SingleFlight =>
    new SingleFlight(store, {
      name: 'flight',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
      random: () => 0.5,
      now: () => new Date(clock.wall()),
      ...options,
    }).on('error', (error) => errors.push(error))
  const refreshes: Refreshing<{ n: number }>[] = []
  const refresh = async (refreshing: Refreshing<{ n: number }>): Promise<{ n: number }> => {
    refreshes.push(refreshing)
    const n = refreshes.length
    await pause(1_000)
    return { n }
  }
  const pause = (duration: number): Promise<void> => new Promise((resolve) => void clock.schedule(duration, resolve))
  const settled = async <T>(pending: Promise<T>): Promise<T> => {
    let isOver = false
    void pending.finally(() => (isOver = true)).catch(() => {})
    expect(await clock.time.advanceUntil(() => isOver, 120_000)).toBe(true)
    return await pending
  }
  return { clock, inner, store, fleet, calls, errors, create, refresh, refreshes, pause, settled }
}

export const unreachable = () => expect.unreachable('it was refreshed')
