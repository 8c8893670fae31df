import { isLocked, type LeaseRecord } from '@leasehold/core'
import type { LeaseRow, RowRecipe } from '../protocol.js'

/** How far the time left may be from the one that the page counts down to, as a part of the ttl. */
const TOLERANCE = 0.25

/** The row of a record, without the time that is left. */
export function rowOf(record: LeaseRecord, firstSeen: number, recipe: RowRecipe | undefined): LeaseRow {
  const { name, state, fencingToken, grantedAt, renewals, waiters } = record
  const held = isLocked(record)
  return {
    name,
    state,
    owner: held ? record.owner : '',
    token: String(fencingToken),
    ...(held && record.ttl !== undefined && { ttl: endless(record.ttl) }),
    ...(held && (grantedAt === undefined ? { since: firstSeen, isSeen: true as const } : { since: grantedAt })),
    ...(renewals !== undefined && { renewals }),
    ...(waiters !== undefined && { waiters }),
    ...(recipe !== undefined && { recipe: { kind: recipe.kind, name: recipe.name } }),
  }
}

/** The fields that a page cannot work out by itself. A heartbeat changes only the time left and the renewals. */
const shownFields = ['state', 'owner', 'token', 'ttl', 'since', 'isSeen', 'waiters'] as const

/** Whether a page that has the first row does not need the second one. */
export function isShownSame(before: LeaseRow, row: LeaseRow): boolean {
  if (before.recipe?.kind !== row.recipe?.kind || before.recipe?.name !== row.recipe?.name) return false
  return shownFields.every((field) => before[field] === row[field])
}

/** A duration, as JSON has it. */
export function endless(duration: number): number | null {
  return Number.isFinite(duration) ? Math.round(duration) : null
}

/** The time that is left of a grant, as all pages show it: they count down from the last time that was sent. */
export class Countdown {
  #left: number
  #at: number

  constructor(left: number, at: number) {
    this.#left = left
    this.#at = at
  }

  /** The time left that the pages show. */
  shownAt(now: number): number {
    return Math.max(0, this.#left - (now - this.#at))
  }

  /** Sets the time left, if the pages show a value that is too far from it. Returns whether it did: then they need the new one. */
  correct(left: number, ttl: number, now: number): boolean {
    const shown = this.shownAt(now)
    if (left === shown || Math.abs(left - shown) <= TOLERANCE * ttl) return false
    this.#left = left
    this.#at = now
    return true
  }
}
