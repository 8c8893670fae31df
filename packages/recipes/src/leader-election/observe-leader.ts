import {
  type Clock,
  LeaseError,
  type LeaseErrorCode,
  type LeaseRecord,
  type LeaseStore,
  readLease,
  type TimeoutSettings,
} from '@leasehold/core'
import { Alarm, onSignal, remainingOf } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { backoff } from '@leasehold/core/store-kit'
import type { Leader } from './leader.js'
import { LeaderHistory } from './leader-history.js'

/** The failures after which asking again is of no use. */
const definitive: ReadonlySet<LeaseErrorCode> = new Set(['unauthorised', 'name'])

/** The longest pause between two reads, in milliseconds, where the store does not notify. */
const LONGEST_POLL = 5_000

/** How much longer the pauses are while a leader is known and the store notifies of its end. */
const SELDOM = 3

/** While there is no leader, a new one is likely soon: the first pause is this part of the usual one. */
const FIRST_PAUSE = 1 / 10
const GROWTH = 1.5

/** The shortest time between two reads, as a part of the usual pause: a watch may yield at every heartbeat. */
const SHORTEST_PAUSE = 1 / 20

/** How long after its expiry a leader is looked for: the store's clock may be a little behind. Milliseconds. */
const AFTER_EXPIRY = 5

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
  const usual = Math.min(timeouts.heartbeatTimeout / 10, LONGEST_POLL)
  const seldom = store.watch === undefined ? usual : SELDOM * usual
  const jittered = (duration: number): number => backoff(0, duration, duration, random)
  onSignal({ store, name, longestPause: usual, clock, random }, call, (record) => {
    if (record === undefined || !history.isKnown(record)) alarm.ring()
  })
  let failures = 0
  /** How many reads in a row have shown no leader. */
  let vacancies = 0
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
    const isVacant = history.leader === undefined
    let [longest, shortest] = [Number.POSITIVE_INFINITY, usual * SHORTEST_PAUSE]
    if (failures > 0) longest = shortest = jittered(usual)
    else if (isVacant) longest = jittered(Math.min(usual * FIRST_PAUSE * GROWTH ** vacancies, usual))
    else longest = Math.max(Math.min(jittered(seldom), remainingOf(record) + AFTER_EXPIRY), shortest)
    if (failures === 0) vacancies = isVacant ? vacancies + 1 : 0
    await alarm.wait(readAt + longest, readAt + shortest)
  }
}
