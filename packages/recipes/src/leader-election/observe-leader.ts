import { type Clock, type LeaseRecord, type LeaseStore, readLease, type TimeoutSettings } from '@leasehold/core'
import type { AbortableCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { Leader } from './leader.js'
import { LeaderHistory } from './leader-history.js'
import { ReadAlarm } from './read-alarm.js'
import { ReadPauses, usualPause } from './read-pauses.js'

/** Whether asking again is of no use. */
const definitive: readonly unknown[] = ['unauthorised', 'name']

/** The surroundings of an observation. */
export interface Observed {
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
export async function* observeLeader(observed: Observed, call: AbortableCall): AsyncGenerator<Leader | undefined> {
  const { store, name, timeouts, clock, random } = observed
  const history = new LeaderHistory(name, store)
  const alarm = new ReadAlarm(clock, call)
  if (store.watch !== undefined) void watchLeader(observed, history, alarm, call)
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
      if (store.closed?.aborted === true || definitive.includes(codeOf(error))) throw error
      failures += 1
      if (failures === 1) observed.report(error)
    }
    const readAt = clock.now()
    if (isNews) yield history.leader
    const { shortest, longest } = failures > 0 ? pauses.afterFailure() : pauses.after(history.leader, record)
    await alarm.wait(readAt, shortest, longest)
  }
}

/** Has the observer read again when the store shows anything but the known leader, and after a watch that broke. */
async function watchLeader(
  observed: Observed,
  history: LeaderHistory,
  alarm: ReadAlarm,
  call: AbortableCall,
): Promise<void> {
  const { store, name, timeouts, clock } = observed
  while (!call.aborted) {
    try {
      for await (const record of store.watch?.(name, call) ?? []) {
        if (call.aborted) return
        if (record === undefined || !history.isKnown(record)) alarm.ring()
      }
    } catch {
      // A watch only saves time: the reads find and report a failure of the store.
    }
    try {
      await pause(clock, usualPause(timeouts), call)
    } catch {
      return
    }
    alarm.ring()
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code
}
