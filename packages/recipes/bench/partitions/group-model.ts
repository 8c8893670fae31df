import { type Decision, decide, type Member } from '../../src/partition-group/balance.js'
import { encodeShare } from '../../src/partition-group/share.js'

/** How the workers of a model decide. */
export type Balancer = 'decentralised' | 'assigner'

export interface ModelOptions {
  readonly partitions: number
  readonly balancer?: Balancer
  /** How many rounds the work on a partition takes to end when it is handed over. */
  readonly drainRounds?: number
  /** How many rounds pass until the leases of a dead worker have expired. */
  readonly ttlRounds?: number
  /** Numbers from 0 to 1. */
  readonly random: () => number
}

/** The state of one worker. */
interface Worker {
  readonly place: number
  /** In a round, workers act one after the other in the order of their phases. */
  readonly phase: number
  readonly joinedAt: number
  /** In the order in which they were taken. */
  held: Set<number>
  claimed: Set<number>
  /** Until which round the work on a partition goes on. */
  draining: Map<number, number>
  state: 'alive' | 'leaving' | 'dead' | 'stalled'
  /** The round of its last heartbeat. */
  seenAt: number
  /** Its record, as it was written last, and the length of its share. */
  record: Member
  bytes: number
  /** Of an assigner: what it told this worker, and when. */
  told: Decision | undefined
}

/** The costs of one round, over all workers. */
export interface RoundCost {
  readonly calls: number
  /** The records that were read in listings and single reads. */
  readonly records: number
  /** Their bytes of metadata. */
  readonly bytes: number
}

/**
 * A group in rounds, without leases and stores: the decisions are those of the package. Each worker acts once in a round,
 * at a moment of its own, on the records that the others wrote last. A claim is granted as soon as the partition is free.
 */
export class GroupModel {
  readonly partitions: number
  readonly workers = new Map<number, Worker>()
  round = 0
  /** For each partition the place of its owner; -1 where it has none. */
  readonly owner: Int32Array
  /** How often a partition changed from one owner to another since `resetCounts`, by partition. */
  readonly moves = new Map<number, number>()
  /** Rounds without an owner, summed over the partitions. */
  unowned = 0
  /** The most rounds in a row that a partition had no owner. */
  longestGap = 0
  /** How often two workers held one partition. */
  overlaps = 0
  cost: RoundCost = { calls: 0, records: 0, bytes: 0 }
  readonly #options: Required<Omit<ModelOptions, 'partitions'>>
  readonly #lastOwner: Int32Array
  readonly #gap: Uint32Array
  #nextPlace = 0
  #leader = -1

  constructor({ partitions, balancer = 'decentralised', drainRounds = 1, ttlRounds = 10, random }: ModelOptions) {
    this.partitions = partitions
    this.#options = { balancer, drainRounds, ttlRounds, random }
    this.owner = new Int32Array(partitions).fill(-1)
    this.#lastOwner = new Int32Array(partitions).fill(-1)
    this.#gap = new Uint32Array(partitions)
  }

  /** The place of the assigner; -1 where there is none. */
  get leader(): number {
    return this.#leader
  }

  get alive(): readonly Worker[] {
    return [...this.workers.values()].filter(({ state }) => state === 'alive')
  }

  join(count: number): void {
    for (let joined = 0; joined < count; joined += 1) {
      const place = this.#nextPlace++
      const record = {
        place,
        partitions: this.partitions,
        isLeaving: false,
        share: { held: [], claimed: [], draining: [] },
      }
      this.workers.set(place, {
        place,
        phase: this.#options.random(),
        joinedAt: this.round,
        held: new Set(),
        claimed: new Set(),
        draining: new Map(),
        state: 'alive',
        seenAt: this.round,
        record,
        bytes: 0,
        told: undefined,
      })
    }
  }

  /** Ends workers: with a hand-over, or without one. A stalled worker continues after its leases have expired. */
  end(places: readonly number[], how: 'leaving' | 'dead' | 'stalled'): void {
    for (const place of places) {
      const worker = this.workers.get(place)
      if (worker === undefined) continue
      worker.state = how
      worker.claimed.clear()
      if (how !== 'leaving') continue
      this.#drain(worker, [...worker.held])
      this.#write(worker)
    }
  }

  /** Whether every partition has an owner and the shares differ by at most 1. */
  get isBalanced(): boolean {
    const counts = this.alive.map(({ held }) => held.size)
    const sum = counts.reduce((total, count) => total + count, 0)
    return sum === this.partitions && Math.max(...counts) - Math.min(...counts) <= 1
  }

  /** The difference between the largest and the smallest share. */
  get spread(): number {
    const counts = this.alive.map(({ held }) => held.size)
    return Math.max(...counts) - Math.min(...counts)
  }

  get withoutOwner(): number {
    return this.owner.reduce((sum, place) => sum + (place < 0 ? 1 : 0), 0)
  }

  resetCounts(): void {
    this.moves.clear()
    this.unowned = 0
    this.longestGap = 0
    this.#gap.fill(0)
  }

  step(): void {
    this.round += 1
    this.cost = { calls: 0, records: 0, bytes: 0 }
    this.#expire()
    const acting = [...this.workers.values()].sort((one, other) => one.phase - other.phase)
    // An assigner that died is replaced when its lease has expired.
    const isElectable = ({ state, joinedAt }: Worker): boolean => state === 'alive' && joinedAt < this.round - 1
    if (!this.workers.has(this.#leader)) this.#leader = acting.find(isElectable)?.place ?? -1
    for (const worker of acting) {
      this.#endDrains(worker)
      if (worker.state !== 'alive') continue
      worker.seenAt = this.round
      // A newcomer only shows itself in its first round.
      if (worker.joinedAt === this.round - 1) {
        this.#payListing()
        this.#pay(1, 0)
        continue
      }
      if (this.#options.balancer === 'assigner') this.#obey(worker, worker.place === this.#leader)
      else this.#carryOut(worker, this.#decisionOf(worker))
      this.#write(worker)
    }
    this.#count()
  }

  #decisionOf(worker: Worker): Decision {
    const others = [...this.workers.values()].filter(({ place }) => place !== worker.place)
    this.#payListing()
    return decide(
      this.#recordOf(worker),
      others.map(({ record }) => record),
    )
  }

  /** With an elected assigner: it decides for all and writes to those that have to act; the others read one record. */
  #obey(worker: Worker, isLeader: boolean): void {
    if (isLeader) {
      this.#payListing()
      const records = [...this.workers.values()].filter(({ state }) => state !== 'dead').map(({ record }) => record)
      for (const record of records) {
        const target = this.workers.get(record.place)
        if (target?.state !== 'alive') continue
        const told = decide(
          record,
          records.filter((other) => other !== record),
        )
        // An acquisition and a release write a record.
        if (told.giveUp.length > 0 || told.claim.length !== record.share.claimed.length) this.#pay(2, 0)
        target.told = told
      }
    }
    this.#pay(1, 1)
    if (worker.told !== undefined) this.#carryOut(worker, worker.told)
    worker.told = undefined
  }

  #carryOut(worker: Worker, { claim, giveUp }: Decision): void {
    this.#drain(worker, giveUp)
    worker.claimed = new Set(claim)
    for (const partition of claim) this.#tryClaim(worker, partition)
  }

  #drain(worker: Worker, partitions: readonly number[]): void {
    for (const partition of partitions) {
      if (!worker.held.delete(partition)) continue
      worker.draining.set(partition, this.round + this.#options.drainRounds)
    }
  }

  #endDrains(worker: Worker): void {
    if (worker.state === 'dead' || worker.state === 'stalled') return
    for (const [partition, until] of worker.draining) {
      if (until > this.round) continue
      worker.draining.delete(partition)
      this.#free(partition)
    }
    if (worker.state === 'leaving' && worker.draining.size === 0) this.workers.delete(worker.place)
  }

  /** The leases of a worker without heartbeats end, and its record no longer counts. */
  #expire(): void {
    for (const worker of [...this.workers.values()]) {
      if (worker.state !== 'dead' && worker.state !== 'stalled') continue
      if (this.round - worker.seenAt < this.#options.ttlRounds) continue
      this.workers.delete(worker.place)
      for (const partition of [...worker.held, ...worker.draining.keys()]) this.#free(partition)
      if (worker.state === 'stalled') this.join(1)
    }
  }

  #free(partition: number): void {
    this.owner[partition] = -1
    for (const worker of this.workers.values()) {
      if (worker.state === 'alive' && worker.claimed.has(partition) && this.#tryClaim(worker, partition)) return
    }
  }

  #tryClaim(worker: Worker, partition: number): boolean {
    if ((this.owner[partition] ?? -1) >= 0) return false
    this.#pay(1, 0)
    this.owner[partition] = worker.place
    worker.claimed.delete(partition)
    worker.held.add(partition)
    const last = this.#lastOwner[partition] ?? -1
    if (last >= 0 && last !== worker.place) this.moves.set(partition, (this.moves.get(partition) ?? 0) + 1)
    this.#lastOwner[partition] = worker.place
    return true
  }

  #recordOf(worker: Worker): Member {
    const share = { held: [...worker.held], claimed: [...worker.claimed], draining: [...worker.draining.keys()] }
    return { place: worker.place, partitions: this.partitions, isLeaving: worker.state === 'leaving', share }
  }

  #write(worker: Worker): void {
    worker.record = this.#recordOf(worker)
    worker.bytes = encodeShare(worker.record.share, this.partitions).length
    this.#pay(1, 0)
  }

  #count(): void {
    const holders = new Int32Array(this.partitions)
    for (const { held, draining } of this.workers.values()) {
      for (const partition of [...held, ...draining.keys()]) holders[partition] = (holders[partition] ?? 0) + 1
    }
    for (let partition = 0; partition < this.partitions; partition += 1) {
      if ((holders[partition] ?? 0) > 1) this.overlaps += 1
      const owner = this.workers.get(this.owner[partition] ?? -1)
      const isOwned = owner !== undefined && owner.state !== 'dead' && owner.state !== 'stalled'
      const gap = isOwned ? 0 : (this.#gap[partition] ?? 0) + 1
      this.#gap[partition] = gap
      if (!isOwned) this.unowned += 1
      this.longestGap = Math.max(this.longestGap, gap)
    }
  }

  #pay(calls: number, records: number): void {
    this.cost = { ...this.cost, calls: this.cost.calls + calls, records: this.cost.records + records }
  }

  #payListing(): void {
    let bytes = this.cost.bytes
    for (const worker of this.workers.values()) bytes += worker.bytes
    this.#pay(1, this.workers.size)
    this.cost = { ...this.cost, bytes }
  }
}
