import type { Share } from './share.js'

/** A worker of the group, as its record shows it. */
export interface Member {
  /** The number of its place in the group: different for each member. */
  readonly place: number
  /** The number of partitions in its options: it knows the partitions with smaller numbers, and owns no others. */
  readonly partitions: number
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

/** A member that stays, with the partitions that it is going to have. */
interface Planned {
  readonly place: number
  readonly partitions: number
  /** Those that it holds, in the order in which they were taken. */
  readonly held: number[]
  /** Those that it claims, before others. */
  readonly claimed: number[]
  /** Those that are free, or that a member drains: to be claimed now. */
  readonly free: number[]
  /** Those that another member gives up first: to be claimed in a later round. */
  readonly coming: number[]
}

/**
 * The decision of one member. Every member decides by this rule for itself, from the records of all: members with the same
 * view divide the free partitions between them without a conflict. With different views two may claim one partition; then
 * its lease decides.
 *
 * Each member makes the same plan for the whole group, and carries its own part out:
 * - A free partition goes to the member with the fewest partitions among those that know it. The partitions that the fewest
 *   members know come first.
 * - Then a member gives a partition to another one that knows it and has at least two fewer, as often as that is possible.
 *
 * So nothing moves while the shares differ by at most 1, and between members that stay as few partitions move as possible.
 * The partitions that the member has had for longest are given up first, so that none moves twice in a row.
 * `self.share.held` is in the order in which the partitions were taken.
 *
 * While two numbers of partitions are deployed, each partition is for the members that know it. Members with different
 * numbers may then have shares that differ by more: the partitions that only one of them knows cannot move.
 */
export function decide(self: Member, others: readonly Member[]): Decision {
  if (self.isLeaving) return { claim: [], giveUp: self.share.held }
  const plan = planOf(self, others)
  const numbers = [...new Set(plan.map(({ partitions }) => partitions))]
  let hasMoved = true
  while (hasMoved) hasMoved = moveOne(plan, numbers)
  const own = plan.find(({ place }) => place === self.place)
  const kept = new Set(own?.held)
  return {
    claim: [...(own?.claimed ?? []), ...(own?.free ?? [])],
    giveUp: self.share.held.filter((partition) => !kept.has(partition)),
  }
}

/** The plan in which each member keeps its partitions, and the free ones are divided. In the order of the places. */
function planOf(self: Member, others: readonly Member[]): readonly Planned[] {
  const staying = [self, ...others].filter(({ isLeaving }) => !isLeaving).sort((one, other) => one.place - other.place)
  const isTaken = new Uint8Array(Math.max(...staying.map(({ partitions }) => partitions)))
  const take = (partition: number): boolean => {
    if (partition >= isTaken.length || isTaken[partition] === 1) return false
    isTaken[partition] = 1
    return true
  }
  // Our own leases are certain; the records of others may be a little old.
  const ownHeld = self.share.held.filter(take)
  const plan = staying.map((member): Planned => {
    const held = member === self ? ownHeld : member.share.held.filter(take)
    return { place: member.place, partitions: member.partitions, held, claimed: [], free: [], coming: [] }
  })
  for (const [at, { share }] of staying.entries()) plan[at]?.claimed.push(...share.claimed.filter(take))
  const numbers = [...new Set(plan.map(({ partitions }) => partitions))].sort((one, other) => other - one)
  for (const [at, number] of numbers.entries()) {
    const free: number[] = []
    for (let partition = numbers[at + 1] ?? 0; partition < number; partition += 1) {
      if (isTaken[partition] === 0) free.push(partition)
    }
    divide(
      free,
      plan.filter(({ partitions }) => partitions >= number),
    )
  }
  return plan
}

/** Gives each member a row of the free partitions: each partition counts for the member that has the fewest so far. */
function divide(free: readonly number[], members: readonly Planned[]): void {
  const counts = members.map(countOf)
  for (let given = 0; given < free.length; given += 1) {
    const least = counts.indexOf(Math.min(...counts))
    counts[least] = (counts[least] ?? 0) + 1
  }
  let start = 0
  for (const [at, member] of members.entries()) {
    const end = start + (counts[at] ?? 0) - countOf(member)
    member.free.push(...free.slice(start, end))
    start = end
  }
}

/** Moves one partition to a member that has at least two fewer. `false`: there is none to move. */
function moveOne(plan: readonly Planned[], numbers: readonly number[]): boolean {
  for (const number of numbers) {
    const taker = takerOf(plan, number)
    const giver = taker && giverOf(plan, number)
    if (taker === undefined || giver === undefined || countOf(giver) < countOf(taker) + 2) continue
    move(giver, taker)
    return true
  }
  return false
}

/** The member with the fewest partitions among those whose `partitions` is this number. */
function takerOf(plan: readonly Planned[], number: number): Planned | undefined {
  let least: Planned | undefined
  for (const member of plan) {
    if (member.partitions !== number) continue
    if (least === undefined || countOf(member) < countOf(least)) least = member
  }
  return least
}

/**
 * Of the members that can give a partition below this number, the one with the most partitions. If several have as many, one
 * that does not hold the partition yet.
 */
function giverOf(plan: readonly Planned[], number: number): Planned | undefined {
  let most: Planned | undefined
  let isHeld = true
  for (const member of plan) {
    const difference = countOf(member) - (most === undefined ? 0 : countOf(most))
    if (difference < 0 || (difference === 0 && !isHeld)) continue
    const isFree = canGive(member, number, false)
    if (!isFree && (difference === 0 || !canGive(member, number))) continue
    most = member
    isHeld = !isFree
  }
  return most
}

function countOf({ held, claimed, free, coming }: Planned): number {
  return held.length + claimed.length + free.length + coming.length
}

/** Whether the member has a partition that members with this number of partitions know. */
function canGive({ held, claimed, free, coming }: Planned, number: number, withHeld = true): boolean {
  const isKnown = (partition: number): boolean => partition < number
  return free.some(isKnown) || coming.some(isKnown) || claimed.some(isKnown) || (withHeld && held.some(isKnown))
}

function move({ held, claimed, free, coming }: Planned, taker: Planned): void {
  const isKnown = (partition: number): boolean => partition < taker.partitions
  for (const [from, to] of [
    [free, taker.free],
    [coming, taker.coming],
    [claimed, taker.coming],
  ] as const) {
    const at = from.findLastIndex(isKnown)
    if (at >= 0) {
      to.push(...from.splice(at, 1))
      return
    }
  }
  taker.coming.push(...held.splice(held.findIndex(isKnown), 1))
}
