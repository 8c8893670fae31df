import { isLocked, type LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'
import { onSignal } from '../store-kit/on-signal.js'
import type { Clock } from '../time/clock.js'
import type { EngineEnvironment } from './event-context.js'
import type { LeaseRules } from './lease-rules.js'
import { longestPoll } from './pauses.js'
import { callWithin } from './timed-call.js'

/**
 * Listens, for one waiter, to the store's signal that it may be its turn. `onTurn` is called with the holder where the store
 * saw the name held, and has no queue in which to keep a place. Returns a function that stops it.
 */
export function watchForTurn(
  rules: LeaseRules,
  store: LeaseStore,
  { clock, random }: EngineEnvironment,
  grantId: string | undefined,
  onTurn: (holder?: LeaseRecord) => void,
): () => void {
  const call = new AbortableCall()
  const source = { store, name: rules.name, grantId, longestPause: longestPoll(rules), clock, random }
  onSignal(source, call, (record) => onTurn(!rules.ordered && isLocked(record) ? record : undefined))
  return () => call.abort()
}

/**
 * Gives up the place of a waiter in the queue of the store. The store is asked only once: a place whose request is not
 * repeated ends by itself.
 */
export function withdrawPlace(rules: LeaseRules, store: LeaseStore, clock: Clock, grantId: string): void {
  const { withdraw } = store
  if (withdraw === undefined) return
  callWithin(rules, clock, 'withdraw', (call) => withdraw.call(store, rules.name, grantId, call)).catch(() => {})
}
