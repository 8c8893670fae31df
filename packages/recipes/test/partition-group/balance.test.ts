import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decision, decide, type Member } from '../../src/partition-group/balance.js'
import type { Share } from '../../src/partition-group/share.js'

const nothing = { held: [], claimed: [], draining: [] }

function member(place: number, partitions: number, share: Share): Member {
  return { place, partitions, isLeaving: false, share }
}

function numbersOf(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, place) => start + place)
}

/** A group in which every record is up to date. Each member decides in turn, or all at once. */
class Group {
  /** By place. */
  readonly numbers: readonly number[]
  readonly members = new Map<number, { held: number[]; claimed: number[]; isLeaving: boolean }>()

  /** `numbers`: how many partitions each member knows, or all. */
  constructor(numbers: number | readonly number[], shares: readonly (readonly number[])[]) {
    this.numbers = typeof numbers === 'number' ? shares.map(() => numbers) : numbers
    for (const [place, held] of shares.entries())
      this.members.set(place, { held: [...held], claimed: [], isLeaving: false })
  }

  /** The decision of each member on the same view. */
  decisions(): Map<number, Decision> {
    return new Map([...this.members.keys()].map((place) => [place, this.decisionOf(place)]))
  }

  decisionOf(place: number): Decision {
    const all = [...this.members].map(([at, { held, claimed, isLeaving }]): Member => {
      return { ...member(at, this.numbers[at] ?? 0, { held, claimed, draining: [] }), isLeaving }
    })
    const self = all.find((one) => one.place === place)
    if (self === undefined) throw new Error(`no member ${place}`)
    return decide(
      self,
      all.filter((other) => other !== self),
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

/** The same, where each member knows one of a few numbers of partitions. */
const mixedGroups = fc
  .tuple(groups, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 2, maxLength: 3 }), fc.infiniteStream(fc.nat()))
  .map(([{ shares }, deployed, seed]) => {
    const numbers = shares.map(() => deployed[(seed.next().value ?? 0) % deployed.length] ?? 1)
    const known = shares.map((held, place) => held.filter((partition) => partition < (numbers[place] ?? 0)))
    return { numbers, shares: known }
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
    const among = (partitions: number, newcomers: number): Decision => {
      const share = { held: [9, 4, 0, 7], claimed: [1, 2], draining: [] }
      const others = Array.from({ length: newcomers }, (_, at) => member(at + 1, partitions, nothing))
      return decide(member(0, partitions, share), others)
    }
    expect(among(10, 1)).toEqual({ claim: [1], giveUp: [] })
    expect(among(12, 3)).toEqual({ claim: [], giveUp: [9] })
  })

  it('claims a partition that another member drains, and leaves it alone while the other keeps it', () => {
    const claimBeside = (held: number[], draining: number[]): readonly number[] =>
      decide(member(1, 4, nothing), [member(0, 4, { held, claimed: [], draining })]).claim
    expect(claimBeside([0, 1, 2, 3], [])).toEqual([])
    expect(claimBeside([2, 3], [0, 1])).toEqual([0, 1])
  })

  it('drops a claim on a partition that another member holds, or claims from an earlier place', () => {
    const self = member(1, 4, { held: [], claimed: [0, 1], draining: [] })
    expect(decide(self, [member(0, 4, { held: [0], claimed: [1], draining: [] })]).claim).toEqual([2, 3])
  })

  it('counts what it holds as its own, also if an old record of another member shows it', () => {
    const self = member(1, 4, { held: [0, 1], claimed: [], draining: [] })
    expect(decide(self, [member(0, 4, { held: [0, 1], claimed: [], draining: [] })]).claim).toEqual([])
  })
})

describe('the decision of a member while several numbers of partitions are deployed', () => {
  it('leads to an owner for each partition that a member knows, and to no move that would even the shares out', () => {
    fc.assert(
      fc.property(mixedGroups, ({ numbers, shares }) => {
        const group = new Group(numbers, shares)
        group.settle()
        const members = [...group.members.values()]
        const owned = members.flatMap(({ held }) => held).sort((one, other) => one - other)
        expect(owned).toEqual(Array.from({ length: Math.max(...numbers) }, (_, partition) => partition))
        for (const [place, { held }] of group.members) {
          expect(Math.max(-1, ...held)).toBeLessThan(numbers[place] ?? 0)
          for (const [other, { held: others }] of group.members) {
            const canMove = held.some((partition) => partition < (numbers[other] ?? 0))
            if (canMove) expect(held.length - others.length).toBeLessThanOrEqual(1)
          }
        }
        for (const { claim, giveUp } of group.decisions().values()) expect([...claim, ...giveUp]).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('converges also when the members decide one after the other', () => {
    fc.assert(
      fc.property(mixedGroups, fc.infiniteStream(fc.nat(100)), ({ numbers, shares }, order) => {
        const group = new Group(numbers, shares)
        for (let turn = 0; turn < 20 * shares.length; turn += 1) {
          const place = turn % 2 === 0 ? (order.next().value ?? 0) % shares.length : (turn >> 1) % shares.length
          group.carryOut(new Map([[place, group.decisionOf(place)]]))
        }
        expect(group.counts.reduce((sum, count) => sum + count)).toBe(Math.max(...numbers))
      }),
    )
  })

  it('gives the partitions that only the new members know to these, and the others to the old ones', () => {
    const group = new Group([32, 32, 64, 64], [numbersOf(0, 16), numbersOf(16, 32), [], []])
    group.settle()
    expect(group.counts).toEqual([16, 16, 16, 16])
    expect(group.members.get(0)?.held).toEqual(numbersOf(0, 16))
  })

  it('claims no partition twice for members that have the same view', () => {
    fc.assert(
      fc.property(mixedGroups, ({ numbers, shares }) => {
        const claims = [...new Group(numbers, shares).decisions().values()].flatMap(({ claim }) => claim)
        expect(new Set(claims).size).toBe(claims.length)
      }),
    )
  })
})
