import type { Share } from './share.js'

/** A worker of the group, as its record shows it. */
export interface Member {
  /** The number of its place in the group: different for each member. */
  readonly place: number
  /** It gives up all of its partitions and takes no others. */
  readonly isLeaving: boolean
  readonly share: Share
}

/** The changes that one member makes to its share. */
export interface Decision {
  /** The partitions to claim: earlier claims that continue, then new ones. Every other claim is given up. */
  readonly claim: readonly number[]
  /** The held partitions to drain and to release. */
  readonly giveUp: readonly number[]
}

/** The state of the group in one look at it. */
interface GroupView {
  /** Without those that leave, in the order of their places. */
  readonly staying: readonly Member[]
  /** For each member that stays: the partitions that it holds, or claims before others. */
  readonly counts: readonly number[]
  /** For each member that stays: its claims that count. */
  readonly claims: readonly (readonly number[])[]
  /** The partitions that no member holds for long or claims, in the order of their numbers. */
  readonly pool: readonly number[]
}

/**
 * The decision of one member. Every member decides by this rule for itself, from the records of all: members with the same
 * view divide the free partitions between them without a conflict. With different views two may claim one partition; then
 * its lease decides.
 *
 * The fair shares are `base = ⌊partitions / members⌋` and `base + 1`. A member gives up
 * - each partition above `base + 1`;
 * - one more if it has `base + 1`, if a member has less than `base`, and the free partitions and those above do not suffice.
 *
 * So nothing moves while the shares differ by at most 1, and between members that stay as few partitions move as possible.
 * The partitions that the member has had for longest are given up first, so that none moves twice in a row. A free
 * partition is claimed by a member that has less than `base`; when there is none, by one that has `base`. `self.share.held`
 * is in the order in which the partitions were taken.
 */
export function decide(self: Member, others: readonly Member[], partitions: number): Decision {
  const view = viewOf(self, others, partitions)
  const { staying, counts, claims, pool } = view
  const own = staying.indexOf(self)
  const claimed = claims[own]
  if (claimed === undefined) return { claim: [], giveUp: self.share.held }
  const base = Math.floor(partitions / staying.length)
  const surplus = surplusOf(own, view, base)
  if (surplus > 0) {
    // Claims first: they move nothing.
    const kept = Math.max(0, claimed.length - surplus)
    return { claim: claimed.slice(0, kept), giveUp: self.share.held.slice(0, surplus - (claimed.length - kept)) }
  }
  return { claim: [...claimed, ...claimable(own, counts, pool, base)], giveUp: [] }
}

function viewOf(self: Member, others: readonly Member[], partitions: number): GroupView {
  const staying = [self, ...others].filter(({ isLeaving }) => !isLeaving).sort((one, other) => one.place - other.place)
  const counts = staying.map(() => 0)
  const claims: number[][] = staying.map(() => [])
  const isTaken = new Uint8Array(partitions)
  const take = (place: number, partition: number): boolean => {
    if (partition >= partitions || isTaken[partition] === 1) return false
    isTaken[partition] = 1
    counts[place] = (counts[place] ?? 0) + 1
    return true
  }
  // Our own leases are certain; the records of others may be a little old.
  const own = staying.indexOf(self)
  for (const partition of staying[own]?.share.held ?? []) take(own, partition)
  for (const [place, { share }] of staying.entries()) for (const partition of share.held) take(place, partition)
  for (const [place, { share }] of staying.entries()) {
    for (const partition of share.claimed) if (take(place, partition)) claims[place]?.push(partition)
  }
  const pool: number[] = []
  for (let partition = 0; partition < partitions; partition += 1) if (isTaken[partition] === 0) pool.push(partition)
  return { staying, counts, claims, pool }
}

/** How many partitions the member has to give up. */
function surplusOf(own: number, { staying, counts, claims, pool }: GroupView, base: number): number {
  const most = base + 1
  const count = counts[own] ?? 0
  if (count < most) return 0
  const lacking = counts.reduce((sum, other) => sum + Math.max(0, base - other), 0)
  const above = counts.reduce((sum, other) => sum + Math.max(0, other - most), 0)
  const stillLacking = lacking - pool.length - above
  // Of the members with one partition more than others, those that only claim it come first.
  const givers = [...staying.keys()]
    .filter((place) => (counts[place] ?? 0) >= most)
    .sort((one, other) => Number(claims[one]?.length === 0) - Number(claims[other]?.length === 0) || one - other)
  return count - most + (givers.indexOf(own) < stillLacking ? 1 : 0)
}

/** The free partitions that the member claims: every member has a part of the pool of its own. */
function claimable(own: number, counts: readonly number[], pool: readonly number[], base: number): readonly number[] {
  const lacks = counts.map((count) => Math.max(0, base - count))
  if (lacks.some((lack) => lack > 0)) {
    const start = lacks.slice(0, own).reduce((sum, lack) => sum + lack, 0)
    return pool.slice(start, start + (lacks[own] ?? 0))
  }
  if (counts[own] !== base) return []
  const place = counts.slice(0, own).filter((count) => count === base).length
  return pool.slice(place, place + 1)
}
