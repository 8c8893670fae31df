import type { Entry } from './entry.js'

/** How much of the validity is left. */
export type Validity =
  /** Nobody holds it, or the server does not know. */
  | { readonly kind: 'none' }
  /** It has no end. */
  | { readonly kind: 'endless' }
  | { readonly kind: 'counting'; readonly ttl: number; readonly remaining: number }

/** Counts down from what the server said last. The result never grows by itself, and never falls below 0. */
export function validityOf(entry: Entry, now: number): Validity {
  const { validUntil, row } = entry
  const isHeld = row.state === 'leased' || row.state === 'breaking'
  if (validUntil === undefined || !isHeld) return { kind: 'none' }
  if (validUntil === Number.POSITIVE_INFINITY) return { kind: 'endless' }
  const remaining = Math.max(0, validUntil - now)
  return { kind: 'counting', remaining, ttl: Math.max(row.ttl ?? remaining, remaining) }
}
