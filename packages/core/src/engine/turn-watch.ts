import { isLocked, type LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'
import { backoff } from '../store-kit/backoff.js'
import type { Clock } from '../time/clock.js'
import type { EngineEnvironment } from './event-context.js'
import { isDefinitive } from './failures.js'
import type { LeaseRules } from './lease-rules.js'
import { outagePause } from './pauses.js'
import { callWithin } from './timed-call.js'

/** For how long a watch that the store refused is not tried again, in milliseconds; half of it is random. */
const REFUSED_PAUSE = 60_000

/**
 * Listens, for one waiter, to the store's signal that it may be its turn. A watch that ends or fails is started again after
 * a pause, and then counts as a signal of the store, because changes in between are unknown. Where the store refuses the
 * watch, the waiter polls at these pauses, and the watch is seldom tried again. `onTurn` is called with the
 * holder where the store saw the name held, and has no queue in which to keep a place. Returns a function that stops it.
 */
export function watchForTurn(
  rules: LeaseRules,
  store: LeaseStore,
  { clock, random }: EngineEnvironment,
  grantId: string | undefined,
  onTurn: (holder?: LeaseRecord) => void,
): () => void {
  const call = new AbortableCall()
  let failures = 0
  /** Before this instant, the watch is not tried again. */
  let refusedUntil = Number.NEGATIVE_INFINITY
  let cancel: (() => void) | undefined

  async function listen(): Promise<void> {
    try {
      for await (const record of store.watch?.(rules.name, call, grantId) ?? []) {
        if (call.aborted) return
        failures = 0
        if (record === undefined || rules.ordered || !isLocked(record)) onTurn()
        else onTurn(record)
      }
    } catch (error) {
      // Watching only saves polls: the next poll finds and reports what is wrong with the store.
      if (isDefinitive(error)) refusedUntil = clock.now() + backoff(0, REFUSED_PAUSE, REFUSED_PAUSE, random)
    }
    if (!call.aborted) goOnLater()
  }

  function goOnLater(): void {
    failures += 1
    cancel = clock.schedule(outagePause(rules, failures, random), () => {
      onTurn()
      if (call.aborted) return
      if (clock.now() < refusedUntil) goOnLater()
      else void listen()
    })
  }

  void listen()
  return () => {
    call.abort()
    cancel?.()
  }
}

/**
 * Gives up the place of a waiter in the queue of the store. Asked once: a place that is not repeated any more goes stale by
 * itself.
 */
export function withdrawPlace(rules: LeaseRules, store: LeaseStore, clock: Clock, grantId: string): void {
  const { withdraw } = store
  if (withdraw === undefined) return
  callWithin(rules, clock, 'withdraw', (call) => withdraw.call(store, rules.name, grantId, call)).catch(() => {})
}
