import { publishers } from '../channels/channels.js'
import type { GrantOrigin } from '../channels/messages.js'
import type { LeaseRecord } from '../store/lease-record.js'
import { remainingOf } from './pauses.js'

/** The last holder that a claim was refused for. The channels are told of it when the claim is granted. */
export interface SeenHolder {
  readonly from: 'holder' | 'broken' | 'hand-off'
  /** When its grant ends unless it is renewed, on the clock of the lease; `Infinity` where the store does not say so. */
  readonly endsAt: number
  /** When the store said that it may be our turn. */
  readonly freeAt?: number
}

/** An adopted lease was free at no time. */
export const handedOver: SeenHolder = { from: 'hand-off', endsAt: Number.POSITIVE_INFINITY }

/** Made only for somebody who listens. */
export function seenHolder(holder: LeaseRecord | undefined, now: number): SeenHolder | undefined {
  if (!publishers.acquired.isOn) return undefined
  const isBroken = holder?.state === 'breaking' || holder?.state === 'broken'
  return { from: isBroken ? 'broken' : 'holder', endsAt: now + remainingOf(holder) }
}

/** The store has said that it may be our turn. */
export function freed(seen: SeenHolder | undefined, now: number): SeenHolder | undefined {
  return seen === undefined || seen.freeAt !== undefined ? seen : { ...seen, freeAt: now }
}

/** The holder is being broken for us. */
export function broken(seen: SeenHolder | undefined): SeenHolder | undefined {
  return seen && { ...seen, from: 'broken' }
}

/** How the name became free for a grant that was confirmed at `now`. `isRefused`: the claim had been refused before. */
export function originOf(seen: SeenHolder | undefined, isRefused: boolean, now: number): GrantOrigin {
  if (seen === undefined) return { from: isRefused ? 'unknown' : 'free', vacancy: undefined }
  const { from, endsAt, freeAt } = seen
  if (from === 'hand-off') return { from, vacancy: 0 }
  const end = Math.min(endsAt, freeAt ?? Number.POSITIVE_INFINITY)
  const vacancy = end <= now ? now - end : undefined
  if (from === 'broken') return { from: 'break', vacancy }
  if (freeAt !== undefined && freeAt < endsAt) return { from: 'release', vacancy }
  if (endsAt <= now) return { from: 'expiry', vacancy }
  return { from: endsAt === Number.POSITIVE_INFINITY ? 'unknown' : 'release', vacancy }
}
