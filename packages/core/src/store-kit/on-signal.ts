import { isDefinitive } from '../errors/lease-error.js'
import type { LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { backoff, outageBackoff } from './backoff.js'
import { pause } from './pause.js'

/** For how long a watch that the store refused is not tried again, in milliseconds; half of it is random. */
const REFUSED_PAUSE = 60_000

/** The name whose watch gives signals, in its store. */
export interface SignalSource {
  readonly store: LeaseStore
  readonly name: string
  /** The place in the queue whose turn is watched; without it, the name. */
  readonly grantId?: string | undefined
  /** The longest pause before a watch that broke is started again, in milliseconds. */
  readonly longestPause: number
  readonly clock: Clock
  readonly random: () => number
}

/**
 * Calls `onChange` with each value of the store's watch, until the call is aborted; never where the store has no watch. A
 * watch that ends or fails is started again after a pause, which then counts as a change (`isBreak`), because changes in
 * between are unknown. The pauses grow until the watch yields. Where the store refuses the watch, each pause counts as a
 * change, and the watch is seldom tried again. Failures are not reported: a watch only saves polls, and the next request
 * finds and reports what is wrong with the store.
 */
export function onSignal(
  { store, name, grantId, longestPause, clock, random }: SignalSource,
  call: StoreCall,
  onChange: (record: LeaseRecord | undefined, isBreak: boolean) => void,
): void {
  const listen = async (): Promise<void> => {
    let failures = 0
    let refusedUntil = Number.NEGATIVE_INFINITY
    while (!call.aborted) {
      try {
        for await (const record of store.watch?.(name, call, grantId) ?? []) {
          if (call.aborted) return
          failures = 0
          onChange(record, false)
        }
      } catch (error) {
        if (isDefinitive(error)) refusedUntil = clock.now() + backoff(0, REFUSED_PAUSE, REFUSED_PAUSE, random)
      }
      do {
        if (call.aborted) return
        failures += 1
        await pause(clock, outageBackoff(failures, longestPause, random), call)
        onChange(undefined, true)
      } while (clock.now() < refusedUntil)
    }
  }
  if (store.watch !== undefined) listen().catch(() => {})
}
