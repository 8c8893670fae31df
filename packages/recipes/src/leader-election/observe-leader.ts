import {
  type Clock,
  LeaseError,
  type LeaseErrorCode,
  type LeaseRecord,
  type LeaseStore,
  readLease,
  type TimeoutSettings,
} from '@leasehold/core'
import { Alarm, onSignal } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import type { Leader } from './leader.js'
import { LeaderHistory } from './leader-history.js'
import { ReadPauses, usualPause } from './read-pauses.js'

/** The failures after which asking again is of no use. */
const definitive: ReadonlySet<LeaseErrorCode> = new Set(['unauthorised', 'name'])

/** The surroundings of an observer. */
export interface ObserverEnvironment {
  readonly store: LeaseStore
  readonly name: string
  readonly timeouts: TimeoutSettings
  readonly clock: Clock
  readonly random: () => number
  /** Gets the first failure of each outage of the store. */
  readonly report: (error: unknown) => void
}

/**
 * Yields the leader, or `undefined` if there is none: first the present state, then each change, until the call is aborted.
 * The record is only ever read, one read after the other; a watch of the store says when to read.
 */
export async function* observeLeader(
  { store, name, timeouts, clock, random, report }: ObserverEnvironment,
  call: StoreCall,
): AsyncGenerator<Leader | undefined> {
  const history = new LeaderHistory(name, store)
  const alarm = new Alarm(clock, call)
  onSignal({ store, name, longestPause: usualPause(timeouts), clock, random }, call, (record) => {
    if (record === undefined || !history.isKnown(record)) alarm.ring()
  })
  const pauses = new ReadPauses(store, timeouts, random)
  let failures = 0
  while (!call.aborted) {
    let isNews = false
    let record: LeaseRecord | undefined
    try {
      record = await readLease(store, name, { timeout: timeouts.operationTimeout, clock, signal: call.signal })
      isNews = !call.aborted && history.accept(record)
      failures = 0
    } catch (error) {
      if (call.aborted) return
      if (store.closed?.aborted === true || (error instanceof LeaseError && definitive.has(error.code))) throw error
      failures += 1
      if (failures === 1) report(error)
    }
    const readAt = clock.now()
    if (isNews) yield history.leader
    const { shortest, longest } = failures > 0 ? pauses.afterFailure() : pauses.after(history.leader, record)
    await alarm.wait(readAt + longest, readAt + shortest)
  }
}
