import { LeaseConflictError, LeaseLostError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { FirstAbort } from '../first-abort.js'
import { changeOf, wishMetadata } from '../slots/resize-wish.js'
import { heldSlots } from '../slots/slot-drain.js'
import { SlotWatch } from '../slots/slot-watch.js'
import type { Turnstile } from '../slots/turnstile.js'
import { type TurnstileRecord, withCount } from '../slots/turnstile-record.js'
import { pauseUntil } from '../waiting.js'

/** The pauses between two looks at the record, in milliseconds. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 1_000

/**
 * Changes the number of permits. Resolves when at most the new number are held. Rejects with a `LeaseConflictError` if another
 * number was written before.
 */
export async function resize(turnstile: Turnstile, permits: number, call: StoreCall): Promise<void> {
  const change = await write(turnstile, permits, call)
  turnstile.follow(permits)
  await untilReached(turnstile, permits, change, call)
}

/**
 * Writes the number at the turnstile, or has it written by the holder of the turnstile, if that waits for a slot. Returns the
 * name of the change.
 */
async function write(turnstile: Turnstile, permits: number, { signal }: StoreCall): Promise<string> {
  for (;;) {
    const wish = turnstile.lease('resize')
    await wish.acquire({ wait: Number.POSITIVE_INFINITY, signal, metadata: wishMetadata(permits) })
    const change = changeOf(wish)
    const ends = new FirstAbort(signal, wish.signal)
    try {
      const own = writeByOwnHand(turnstile, permits, change, ends).finally(() => ends.abort())
      const others = untilSeen(turnstile, (record) => record.change === change, ends).finally(() => ends.abort())
      const outcomes = await Promise.allSettled([own, others])
      if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value)) return change
      signal.throwIfAborted()
      // After the loss of a lease, the loop begins again.
      const failure = outcomes.find((outcome) => outcome.status === 'rejected')?.reason
      if (failure !== undefined && !(failure instanceof LeaseLostError)) throw failure
    } finally {
      ends.forget()
      await wish.release().catch(() => {})
    }
  }
}

/** Waits for its turn, and writes the number. Rejects with the reason of the call when that is aborted first. */
async function writeByOwnHand(
  turnstile: Turnstile,
  permits: number,
  change: string,
  { signal }: StoreCall,
): Promise<boolean> {
  const held = turnstile.lease()
  if (!(await held.acquire({ wait: Number.POSITIVE_INFINITY, signal }))) return false
  try {
    const record = turnstile.readAny(held)
    if (record.change !== change) await turnstile.write(held, withCount(record, permits, change))
    return true
  } finally {
    await held.release().catch(() => {})
  }
}

/** Looks until the record is as wanted, and returns it. `undefined` after an abort. */
async function untilSeen(
  turnstile: Turnstile,
  isWanted: (record: TurnstileRecord) => boolean,
  call: StoreCall,
): Promise<TurnstileRecord | undefined> {
  let pause = FIRST_PAUSE
  while (!call.aborted) {
    const record = await turnstile.look(call.signal).catch(() => undefined)
    if (record !== undefined && isWanted(record)) return record
    await pauseUntil(turnstile.clock, pause, call)
    pause = Math.min(2 * pause, LONGEST_PAUSE)
  }
  return undefined
}

/**
 * Resolves when at most `permits` are held. Once they are, they stay so for as long as nobody changes the number: a permit is
 * only given while fewer are held. So it does not matter that the slots are looked at one by one.
 */
async function untilReached(turnstile: Turnstile, permits: number, change: string, call: StoreCall): Promise<void> {
  const { slots } = await unchanged(turnstile, change, call)
  if (slots <= permits) return
  const watch = new SlotWatch(
    turnstile,
    Array.from({ length: slots }, (_, slot) => slot),
    call,
  )
  try {
    for (;;) {
      const held = await heldSlots(turnstile, slots, call.signal).catch(() => undefined)
      await unchanged(turnstile, change, call)
      if (held !== undefined && held.size <= permits) return
      await watch.next()
      call.signal.throwIfAborted()
    }
  } finally {
    watch.end()
  }
}

/** The record, read until the store answers. Rejects with a `LeaseConflictError` if the change is not the last one. */
async function unchanged(turnstile: Turnstile, change: string, call: StoreCall): Promise<TurnstileRecord> {
  const record = await untilSeen(turnstile, () => true, call)
  call.signal.throwIfAborted()
  if (record?.change === change) return record
  const message = `'${turnstile.name}' has ${record?.count} permits now: another resize or another instance has changed the number`
  throw new LeaseConflictError(message, turnstile.details)
}
