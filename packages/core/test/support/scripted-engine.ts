import { type LeaseLost, LeaseSettings, type LeaseStore, type StoreCall, TimeoutSettings } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { vi } from 'vitest'
import { Claim } from '../../src/engine/claims.js'
import { type GrantEffect, LeaseEngine } from '../../src/engine/lease-engine.js'
import { INTERVAL, LIMIT, TTL } from './held-lease.js'
import { ScriptedStore } from './scripted-store.js'

/** When one who tries once gives up waiting. */
export const ONCE = Number.NEGATIVE_INFINITY

/** A lease's engine, with heartbeats every `INTERVAL` sharp, over a store that the test answers for. */
export function setUpEngine(more: Partial<LeaseStore> & { readonly ordered?: boolean } = {}) {
  const clock = new VirtualClock()
  const { ordered = false, ...methods } = more
  const store = Object.assign(new ScriptedStore({ ordered }), methods)
  const observe = vi.fn()
  const plan = () => ({ after: INTERVAL, attemptTimeout: LIMIT })
  const strategy = { name: 'sharp', check: () => undefined, plan, observe }
  const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, strategy }
  const settings = new LeaseSettings({ name: 'job', owner: 'me', timeouts: new TimeoutSettings(times) })
  const told: GrantEffect[] = []
  const engine = new LeaseEngine(settings, store, { clock, random: () => 1 }, (effect) => told.push(effect))
  const claim = (waitUntil = ONCE, onLost?: (lost: LeaseLost) => void): Claim => {
    const made = new Claim(waitUntil, onLost === undefined ? {} : { onLost })
    engine.claim(made)
    return made
  }
  const hold = async (): Promise<void> => {
    const { promise } = claim()
    store.last('acquire').answer('yes')
    await promise
    await clock.settle()
  }
  const sent = (): string[] => store.calls.map(({ method }) => method)
  return { clock, store, engine, told, claim, hold, observe, sent }
}

/** A `watch` that says nothing; tells which places in the queue it was asked to watch, and when it was ended. */
export function silentWatch(): { watch: NonNullable<LeaseStore['watch']>; places: unknown[]; calls: StoreCall[] } {
  const places: unknown[] = []
  const calls: StoreCall[] = []
  const watch = (_name: string, call: StoreCall, grantId?: string): AsyncIterable<undefined> => {
    places.push(grantId)
    calls.push(call)
    return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }
  }
  return { watch, places, calls }
}
