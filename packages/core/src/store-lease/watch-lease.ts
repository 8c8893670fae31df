import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import type { LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'
import { Alarm } from '../store-kit/alarm.js'
import { onSignal } from '../store-kit/on-signal.js'
import { AbortListeners } from '../time/abort-listeners.js'
import { systemClock } from '../time/system-clock.js'
import { systemRandom } from '../time/system-random.js'
import { readLease, type StoreOperationOptions } from './operations.js'

const DEFAULT_INTERVAL = 1_000

export interface WatchLeaseOptions extends StoreOperationOptions {
  /** The longest time between two reads of the record, in milliseconds; 1 s unless given. */
  readonly interval?: number | undefined
}

const optionNames: OptionNames<WatchLeaseOptions> = {
  timeout: true,
  signal: true,
  clock: true,
  keepAlive: true,
  interval: true,
}

const aborts = new AbortListeners()

/**
 * Yields the record of a name, or `undefined` where there is none: the present one, then each one with another grant, state
 * or metadata, until the signal aborts. A renewal is no change. The record is read once in each interval, and at once when
 * the store signals that the name may be free. Throws the first typed error of a read; watch again to go on.
 */
export async function* watchLease(
  store: LeaseStore,
  name: string,
  options: WatchLeaseOptions = {},
): AsyncGenerator<LeaseRecord | undefined, void, undefined> {
  checkOptionNames('watchLease', options, optionNames, { leaseName: name })
  const { interval = DEFAULT_INTERVAL, clock = systemClock, signal, ...others } = options
  const call = new AbortableCall()
  const unlisten = signal && aborts.add(signal, () => call.abort(signal.reason))
  const alarm = new Alarm(clock, call)
  const longestPause = Math.min(interval, DEFAULT_INTERVAL)
  onSignal({ store, name, longestPause, clock, random: systemRandom }, call, () => alarm.ring())
  let shown: string | undefined
  try {
    while (!call.aborted) {
      const record = await readLease(store, name, { ...others, clock, signal: call.signal })
      const state = record === undefined ? 'none' : stateOf(record)
      if (state !== shown) yield record
      shown = state
      await alarm.wait(clock.now() + interval)
    }
  } catch (error) {
    if (!call.aborted) throw error
  } finally {
    unlisten?.()
    call.abort()
  }
}

function stateOf({ grantId, owner, state, metadata }: LeaseRecord): string {
  return JSON.stringify([grantId, owner, state, Object.entries(metadata).sort()])
}
