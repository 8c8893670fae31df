import type { StoreLimits } from '../store/lease-store.js'
import { roomOf } from '../store/metadata.js'
import { looksOf } from '../store/one-look.js'
import { MARK_SIZE } from './copied-metadata.js'

/** The limits of leases in both stores: the stricter one of each. The queue of `from` decides on the order of waiters. */
export function limitsOfBoth(from: StoreLimits, to: StoreLimits): StoreLimits {
  const room = Math.min(roomOf(from), Math.max(roomOf(to) - MARK_SIZE, 0))
  const frees = { ttls: 1, extra: 0 }
  const [one, other] = [from.frees ?? frees, to.frees ?? frees]
  const observed = from.observed === true || to.observed === true
  return {
    minTtl: Math.max(from.minTtl, to.minTtl),
    maxTtl: Math.min(from.maxTtl, to.maxTtl),
    infinite: from.infinite && to.infinite,
    ordered: from.ordered,
    metadata: room,
    observed,
    ...(observed ? looksAtBoth(looksOf(from), looksOf(to)) : {}),
    frees: { ttls: Math.max(one.ttls, other.ttls), extra: Math.max(one.extra, other.extra) },
  }
}

/** Each store has to be sure that the holder is dead. */
function looksAtBoth(one: StoreLimits['looks'], other: StoreLimits['looks']): Pick<StoreLimits, 'looks'> {
  if (one === undefined || other === undefined) return {}
  const needed = one.needed === 1 ? other.needed : one.needed
  return { looks: { needed, extra: Math.max(one.extra, other.extra) } }
}
