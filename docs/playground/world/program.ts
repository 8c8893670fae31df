import { type Clock, createLease, type LeaseLostReason, type StoreHeld, type StoreLease } from '@leasehold/core'
import { createSystemClock } from '@leasehold/core/internal'
import type { Random } from '../../../packages/testkit/src/random.js'
import { silentLogger } from '../../../packages/testkit/src/silent-logger.js'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import { type Client, Connection, type Line } from '../../../testing/simulator/src/connection.js'
import type { ServerTimedStore } from '../../../testing/simulator/src/server-timed-store.js'
import type { Actor, Journal } from './journal.js'
import { COMPUTE_FOR, LEASE, REST, TIMES, WRITE_EVERY } from './settings.js'

/** The letter of each node. */
export const LETTERS = ['A', 'B', 'C'] as const satisfies readonly Actor[]

/** The world, from the side of a program. */
export interface Surroundings extends Line {
  readonly store: ServerTimedStore
  readonly journal: Journal
  /** A node asks for the lease under this grant id. */
  onAsked(node: number, grantId: string): void
  /** A write has reached the resource. Returns whether the resource accepted it. */
  onWrite(node: number, fencingToken: bigint): boolean
}

const lossTexts: Readonly<Partial<Record<LeaseLostReason, string>>> = {
  expired: 'no heartbeat got through before its validity ended',
  taken: 'another grant holds the name',
  broken: 'an operator broke it',
  deleted: 'the record is gone',
}

/** Requests are answered as they are. */
const plainly = {
  answer: <T>(_method: string, ask: () => Promise<T>): Promise<T> => ask(),
  watch: <T>(start: () => AsyncIterable<T>): AsyncIterable<T> => start(),
}

/**
 * One process of a node, from its start to its death. It contends for the lease by `run`, as a user's program does, and
 * writes to the resource under its fencing token.
 */
export class Program implements Client {
  readonly node: number
  readonly owner: string
  readonly machine: VirtualClock
  readonly clock: Clock
  readonly lease: StoreLease
  readonly connection: Connection
  /** Messages no longer reach it. */
  isDead = false
  /** It computes what it is going to write. It has checked its lease before. */
  isComputing = false
  readonly #surroundings: Surroundings
  /** Set by a user who wants the lease to be released. */
  #isToRelease = false

  constructor(surroundings: Surroundings, node: number, machine: VirtualClock, random: Random) {
    this.#surroundings = surroundings
    this.node = node
    this.owner = LETTERS[node] ?? String(node)
    this.machine = machine
    // The same code reads the clocks as in production.
    this.clock = createSystemClock({
      ...machine.readings,
      // A dead process runs code until the end of its turn: its timers have no effect.
      schedule: (delay, task) => (this.isDead ? () => {} : machine.schedule(delay, task)),
    })
    this.connection = new Connection(this, surroundings, plainly)
    const store = surroundings.store.open(this.connection)
    const { acquire } = store
    store.acquire = (request, call) => {
      surroundings.onAsked(node, request.grantId)
      return acquire(request, call)
    }
    this.lease = createLease(store, LEASE, {
      owner: this.owner,
      ...TIMES,
      clock: this.clock,
      logger: silentLogger,
      random: () => random.next(),
    })
    this.#listen()
    void this.#contend()
  }

  /** Ends the work of the holder, which releases the lease. */
  release(): void {
    this.#isToRelease = true
  }

  kill(): void {
    this.isDead = true
    this.connection.kill()
    this.machine.clear()
  }

  #listen(): void {
    const { lease, owner } = this
    const { journal } = this.#surroundings
    const actor = owner as Actor
    lease.on('acquired', ({ fencingToken }) =>
      journal.note(actor, `holds the lease, with token ${fencingToken}`, 'good'),
    )
    lease.on('jeopardy', ({ remaining }) => {
      const left = Math.max(0, remaining / 1_000).toFixed(1)
      journal.note(actor, `a heartbeat failed: the lease is in jeopardy, valid for ${left} s more`, 'warning')
    })
    lease.on('recovered', () => journal.note(actor, 'a heartbeat got through: out of jeopardy', 'good'))
    lease.on('lost', ({ reason }) => journal.note(actor, `lost the lease: ${lossTexts[reason] ?? reason}`, 'bad'))
    lease.on('released', () => journal.note(actor, 'released the lease'))
    lease.on('unreachable', () => journal.note(actor, 'waits on: the store does not answer', 'warning'))
    lease.on('reachable', () => journal.note(actor, 'reaches the store again'))
  }

  // #region contend
  async #contend(): Promise<void> {
    while (!this.isDead) {
      // It rejects when the lease is lost, which the journal has already.
      await this.lease.run((held) => this.#work(held), { wait: Number.POSITIVE_INFINITY }).catch(() => {})
      await this.#sleep(REST)
    }
  }

  async #work(held: StoreHeld): Promise<void> {
    this.#isToRelease = false
    while (!this.#isToRelease) {
      if (!held.checkLease()) return
      // Between the check and the arrival of the write, time passes: only the resource can check the token in time.
      this.isComputing = true
      await this.#sleep(COMPUTE_FOR)
      this.isComputing = false
      this.#write(held.fencingToken)
      await this.#sleep(WRITE_EVERY - COMPUTE_FOR)
    }
  }
  // #endregion contend

  /** Does not wait for the answer, which may never come. */
  #write(fencingToken: bigint): void {
    this.connection.post({ method: 'write', fencingToken }, (answer) => {
      const isAccepted = this.#surroundings.onWrite(this.node, fencingToken)
      answer(isAccepted, !isAccepted, () => {
        if (isAccepted) return
        this.#surroundings.journal.note(
          this.owner as Actor,
          `hears that its write with token ${fencingToken} was refused`,
          'bad',
        )
      })
    })
  }

  #sleep(duration: number): Promise<void> {
    return new Promise((resolve) => this.clock.schedule(duration, resolve))
  }
}
