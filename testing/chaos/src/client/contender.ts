import { setTimeout as pause } from 'node:timers/promises'
import type { HandOff } from '@leasehold/core'
import type { Random } from '../../../../packages/testkit/src/random.js'
import { machineTime } from '../record/machine-time.js'
import type { RecordedGrant, RecordedLease } from './recorded-lease.js'
import type { RegisterWriter } from './register-writer.js'

export interface ContenderOptions {
  readonly random: Random
  readonly writer: RegisterWriter
  readonly ttl: number
  readonly pace: number
  readonly until: number
  /** The lease of this process, and one that sends no heartbeats, where there is such a lease. */
  readonly lease: RecordedLease
  readonly silentLease: RecordedLease | undefined
  /** The owner of another client, drawn at each call. */
  readonly otherOwner: () => string
  /** Sends a grant to its next holder. */
  readonly give: (handOff: HandOff) => void
}

/** The part of the turns in which the holder sends no heartbeats, and lets its grant expire. */
const SILENT = 0.12
/** How a turn ends, unless the grant is lost. */
const HANDED_OVER = 0.2
/** How often a holder writes once more with its token after it has lost its grant. */
const WRITES_LATE = 0.5

/** Contends for one name: acquires, holds and writes, and gives up, again and again, as its random numbers say. */
export class Contender {
  readonly #options: ContenderOptions
  /** Given by another client, and not adopted yet. */
  #given: HandOff | undefined
  #attempt = new AbortController()

  constructor(options: ContenderOptions) {
    this.#options = options
  }

  /** Ends the attempt that is under way, to adopt the grant instead. */
  adopt(handOff: HandOff): void {
    this.#given = handOff
    this.#attempt.abort()
  }

  async run(): Promise<void> {
    const { lease, random, until, ttl } = this.#options
    while (machineTime() < until) {
      await this.#turn()
      if (random.chance(0.5)) lease.check()
      await pause(random.between(10, ttl / 5))
    }
  }

  async #turn(): Promise<void> {
    const { lease, silentLease, random } = this.#options
    const given = this.#given
    this.#given = undefined
    this.#attempt = new AbortController()
    if (given !== undefined) {
      await lease.settle()
      await this.#use(lease, await lease.adopt(given))
      return
    }
    const used = silentLease !== undefined && random.chance(SILENT) ? silentLease : lease
    const options = { wait: this.#drawWait(), signal: this.#attempt.signal }
    await this.#use(used, await used.acquire(options))
  }

  #drawWait(): number {
    const { random, ttl, until } = this.#options
    if (random.chance(0.25)) return 0
    return Math.max(0, Math.min(random.between(0.2, 4) * ttl, until - machineTime()))
  }

  async #use(lease: RecordedLease, grant: RecordedGrant | undefined): Promise<void> {
    if (grant === undefined) return
    const { random, ttl, until, silentLease } = this.#options
    const isSilent = lease === silentLease
    const end = isSilent ? Number.POSITIVE_INFINITY : Math.min(machineTime() + random.between(0.1, 3) * ttl, until)
    const writing = this.#writeUntil(end, lease, grant)
    await this.#checkUntil(end, lease, grant)
    if (lease.isHeld && !grant.isLost) await this.#giveUp(lease, grant)
    else if (random.chance(WRITES_LATE)) await this.#writeLate(grant)
    // A guarded write may hang. It does not keep the contender from its next turn.
    await Promise.race([writing, pause(ttl)])
  }

  async #checkUntil(end: number, lease: RecordedLease, grant: RecordedGrant): Promise<void> {
    const { random, pace } = this.#options
    while (!grant.isLost && machineTime() < end && lease.check()) await pause(random.between(20, 160) * pace)
  }

  async #writeUntil(end: number, lease: RecordedLease, grant: RecordedGrant): Promise<void> {
    const { random, writer, pace } = this.#options
    const isHeld = (): boolean => !grant.isLost && machineTime() < end && lease.isHeld
    while (isHeld()) {
      await writer.writeNext(grant.token, isHeld)
      await pause(random.between(60, 400) * pace)
    }
  }

  async #giveUp(lease: RecordedLease, grant: RecordedGrant): Promise<void> {
    const { random, otherOwner, give, until } = this.#options
    if (!lease.canHandOver || machineTime() >= until || !random.chance(HANDED_OVER)) {
      await lease.release(grant)
      return
    }
    const handOff = await lease.handOver(grant, otherOwner())
    if (handOff !== undefined) give(handOff)
  }

  /** As a process that was paused does. The guard accepts it until a later holder has written. */
  async #writeLate({ token }: RecordedGrant): Promise<void> {
    const { random, writer, ttl } = this.#options
    await pause(random.between(0, ttl))
    await Promise.race([writer.writeNext(token, () => true), pause(ttl)])
  }
}
