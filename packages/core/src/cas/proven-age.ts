import type { CasEntry, CasVersion } from './cas-register.js'

/** An age beyond ten years comes from times in different units, or from a time that was never set. In milliseconds. */
const ABSURD = 10 * 365 * 86_400_000

type Times = Pick<CasEntry<CasVersion>, 'readAt' | 'writtenAt' | 'doubtedSince'>

/**
 * For how long the record was certainly unchanged when the store answered, by two readings of the store's own clock, in
 * milliseconds; 0 where they prove nothing. A mark from before the last write proves nothing, so the time of the write is
 * preferred.
 */
export function provenAge({ readAt, writtenAt, doubtedSince }: Times, clockError: number | undefined): number {
  if (clockError === undefined || !isTime(readAt)) return 0
  const since = isTime(writtenAt) ? writtenAt : doubtedSince
  const age = isTime(since) ? readAt - since - clockError : 0
  return age > 0 && age < ABSURD ? age : 0
}

/** Times before 1970 are those of clocks that were never set. */
export function isTime(time: number | undefined): time is number {
  return typeof time === 'number' && time > 0 && time < Number.POSITIVE_INFINITY
}
