import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decision, decide, type Member } from '../../src/partition-group/balance.js'

const nothing = { held: [], claimed: [], draining: [] }

/** A group in which every record is up to date. Each member decides in turn, or all at once. */
class Group {
  readonly partitions: number
  readonly members = new Map<number, { held: number[]; claimed: number[]; isLeaving: boolean }>()

  constructor(partitions: number, shares: readonly (readonly number[])[]) {
    this.partitions = partitions
    for (const [place, held] of shares.entries())
      this.members.set(place, { held: [...held], claimed: [], isLeaving: false })
  }

  /** The decision of each member on the same view. */
  decisions(): Map<number, Decision> {
    return new Map([...this.members.keys()].map((place) => [place, this.decisionOf(place)]))
  }

  decisionOf(place: number): Decision {
    const all = [...this.members].map(([at, { held, claimed, isLeaving }]): Member => {
      return { place: at, isLeaving, share: { held, claimed, draining: [] } }
    })
    const self = all.find((member) => member.place === place)
    if (self === undefined) throw new Error(`no member ${place}`)
    return decide(
      self,
      all.filter((member) => member !== self),
      this.partitions,
    )
  }

  /** Carries decisions out: what is given up is free at once, and a claim on a free partition is granted. */
  carryOut(decisions: ReadonlyMap<number, Decision>): void {
    for (const [place, { claim, giveUp }] of decisions) {
      const member = this.members.get(place)
      if (member === undefined) continue
      member.held = member.held.filter((partition) => !giveUp.includes(partition))
      member.claimed = [...claim]
    }
    for (const member of this.members.values()) {
      member.claimed = member.claimed.filter((partition) => {
        if ([...this.members.values()].some(({ held }) => held.includes(partition))) return true
        member.held.push(partition)
        return false
      })
    }
  }

  /** Rounds until nothing changes, at most 20. */
  settle(): void {
    for (let round = 0; round < 20; round += 1) this.carryOut(this.decisions())
  }

  get counts(): readonly number[] {
    return [...this.members.values()].filter(({ isLeaving }) => !isLeaving).map(({ held }) => held.length)
  }
}

/** The smallest number of moves between members that stay: each member's excess over the best fair share for it. */
function leastMoves(counts: readonly number[], partitions: number): number {
  const base = Math.floor(partitions / counts.length)
  const extra = partitions % counts.length
  const sorted = [...counts].sort((one, other) => other - one)
  return sorted.reduce((sum, count, rank) => sum + Math.max(0, count - base - (rank < extra ? 1 : 0)), 0)
}

/** Partitions spread over some members in any way; some are free. */
const groups = fc
  .record({
    partitions: fc.integer({ min: 1, max: 60 }),
    workers: fc.integer({ min: 1, max: 9 }),
    seed: fc.infiniteStream(fc.integer({ min: 0, max: 1_000 })),
    freeness: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ partitions, workers, seed, freeness }) => {
    const shares: number[][] = Array.from({ length: workers }, () => [])
    for (let partition = 0; partition < partitions; partition += 1) {
      const drawn = seed.next().value ?? 0
      shares[drawn % (workers * freeness)]?.push(partition)
    }
    return { partitions, shares }
  })

describe('the decision of a member', () => {
  it('leads to shares that differ by at most 1, with an owner for each partition, in three rounds', () => {
    fc.assert(
      fc.property(groups, ({ partitions, shares }) => {
        const group = new Group(partitions, shares)
        for (let round = 0; round < 3; round += 1) group.carryOut(group.decisions())
        expect(group.counts.reduce((sum, count) => sum + count)).toBe(partitions)
        expect(Math.max(...group.counts) - Math.min(...group.counts)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('moves as few partitions as possible between members that stay, and none of them twice', () => {
    fc.assert(
      fc.property(groups, ({ partitions, shares }) => {
        const group = new Group(partitions, shares)
        const free = partitions - shares.flat().length
        const moved: number[] = []
        for (let round = 0; round < 6; round += 1) {
          const decisions = group.decisions()
          moved.push(...[...decisions.values()].flatMap(({ giveUp }) => giveUp))
          group.carryOut(decisions)
        }
        expect(new Set(moved).size).toBe(moved.length)
        // Free partitions fill the smallest shares first, so that they save moves.
        expect(moved.length).toBeLessThanOrEqual(
          leastMoves(
            shares.map(({ length }) => length),
            partitions,
          ),
        )
        if (free === 0) {
          const counts = shares.map(({ length }) => length)
          expect(moved.length).toBe(leastMoves(counts, partitions))
        }
      }),
    )
  })

  it('changes nothing while the shares differ by at most 1', () => {
    fc.assert(
      fc.property(groups, ({ partitions, shares }) => {
        const group = new Group(partitions, shares)
        group.settle()
        for (const { claim, giveUp } of group.decisions().values()) expect([...claim, ...giveUp]).toEqual([])
      }),
    )
  })

  it('never claims one partition for two members that have the same view', () => {
    fc.assert(
      fc.property(groups, ({ partitions, shares }) => {
        const claims = [...new Group(partitions, shares).decisions().values()].flatMap(({ claim }) => claim)
        expect(new Set(claims).size).toBe(claims.length)
      }),
    )
  })

  it('converges also when the members decide one after the other, in any order', () => {
    fc.assert(
      fc.property(groups, fc.infiniteStream(fc.nat(100)), ({ partitions, shares }, order) => {
        const group = new Group(partitions, shares)
        for (let turn = 0; turn < 20 * shares.length; turn += 1) {
          const place = turn % 2 === 0 ? (order.next().value ?? 0) % shares.length : (turn >> 1) % shares.length
          group.carryOut(new Map([[place, group.decisionOf(place)]]))
        }
        expect(group.counts.reduce((sum, count) => sum + count)).toBe(partitions)
        expect(Math.max(...group.counts) - Math.min(...group.counts)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('gives the partitions of a member that leaves to the others, and moves nothing else', () => {
    fc.assert(
      fc.property(groups, ({ partitions, shares }) => {
        fc.pre(shares.length > 1)
        const group = new Group(partitions, shares)
        group.settle()
        const leaver = group.members.get(0)
        if (leaver === undefined) throw new Error('no member 0')
        leaver.isLeaving = true
        const [first, ...rest] = group.decisions().values()
        expect(first?.giveUp).toEqual(leaver.held)
        expect(first?.claim).toEqual([])
        for (const { giveUp } of rest) expect(giveUp).toEqual([])
        group.settle()
        group.members.delete(0)
        expect(group.counts.reduce((sum, count) => sum + count)).toBe(partitions)
        expect(Math.max(...group.counts) - Math.min(...group.counts)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('gives up claims before partitions, and the partitions that it has had for longest first', () => {
    const self = { place: 0, isLeaving: false, share: { held: [9, 4, 0, 7], claimed: [1, 2], draining: [] } }
    const newcomer = { place: 1, isLeaving: false, share: nothing }
    expect(decide(self, [newcomer], 10)).toEqual({ claim: [1], giveUp: [] })
    const three = [1, 2, 3].map((place) => ({ ...newcomer, place }))
    expect(decide(self, three, 12)).toEqual({ claim: [], giveUp: [9] })
  })

  it('claims a partition that another member drains, and leaves it alone while the other keeps it', () => {
    const self = { place: 1, isLeaving: false, share: nothing }
    const other = (held: number[], draining: number[]): Member => ({
      place: 0,
      isLeaving: false,
      share: { held, claimed: [], draining },
    })
    expect(decide(self, [other([0, 1, 2, 3], [])], 4).claim).toEqual([])
    expect(decide(self, [other([2, 3], [0, 1])], 4).claim).toEqual([0, 1])
  })

  it('drops a claim on a partition that another member holds, or claims from an earlier place', () => {
    const self = { place: 1, isLeaving: false, share: { held: [], claimed: [0, 1], draining: [] } }
    const others: Member[] = [{ place: 0, isLeaving: false, share: { held: [0], claimed: [1], draining: [] } }]
    expect(decide(self, others, 4).claim).toEqual([2, 3])
  })
})
