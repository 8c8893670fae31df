import { type LeaseLost, LeaseSettings, type LeaseStore, TimeoutSettings } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { vi } from 'vitest'
import { AcquireCaller } from '../../src/engine/acquire-caller.js'
import type { EngineEnvironment } from '../../src/engine/event-context.js'
import { type GrantEffect, onGrant } from '../../src/engine/grant-effect.js'
import { LeaseEngine } from '../../src/engine/lease-engine.js'
import { INTERVAL, LIMIT, TTL } from './held-lease.js'
import { ScriptedStore } from './scripted-store.js'

/** The end of the wait of a caller without wait. */
export const ONCE = Number.NEGATIVE_INFINITY

/** The engine of a lease over a scripted store, with heartbeats exactly every `INTERVAL`. */
export function setUpEngine(
  more: Partial<LeaseStore> & { readonly ordered?: boolean } = {},
  environment: Partial<EngineEnvironment> = {},
) {
  const clock = new VirtualClock()
  const { ordered = false, ...methods } = more
  const store = Object.assign(new ScriptedStore({ ordered }), methods)
  const observe = vi.fn()
  const plan = () => ({ after: INTERVAL, attemptTimeout: LIMIT })
  const strategy = { name: 'sharp', check: () => undefined, plan, observe }
  const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, strategy }
  const settings = new LeaseSettings({ name: 'job', owner: 'me', timeouts: new TimeoutSettings(times) })
  const told: GrantEffect[] = []
  const lease = { [onGrant]: (effect: GrantEffect) => void told.push(effect) }
  const engine = new LeaseEngine(settings, store, { clock, random: () => 1, ...environment }, lease)
  const controllers = new WeakMap<AcquireCaller, AbortController>()
  const claim = (until = ONCE, onLost?: (lost: LeaseLost) => void): AcquireCaller => {
    const controller = new AbortController()
    const { signal } = controller
    const caller = new AcquireCaller(onLost === undefined ? { signal } : { signal, onLost }, until, clock)
    controllers.set(caller, controller)
    engine.join(caller)
    return caller
  }
  /** Ends the wait of a caller by its signal. */
  const giveUp = (caller: AcquireCaller): void => {
    caller.promise.catch(() => {})
    controllers.get(caller)?.abort()
  }
  const hold = async (): Promise<void> => {
    const { promise } = claim()
    store.last('acquire').answer('yes')
    await promise
    await clock.settle()
  }
  const sent = (): string[] => store.calls.map(({ method }) => method)
  return { clock, store, engine, told, claim, giveUp, hold, observe, sent }
}

/** A `watch` without values. It records the watched places in the queue, and when it ended. */
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
