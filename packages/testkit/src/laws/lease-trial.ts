import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  AcquireOptions,
  Clock,
  Lease,
  LeaseLost,
  LeaseLostReason,
  LeaseStore,
  StoreLease,
  TimeoutOptions,
} from '@leasehold/core'
import { isStoreLease } from '@leasehold/core/internal'
import type { Fault } from '../faults/fault.js'
import { FaultyStore } from '../faults/faulty-store.js'
import { Random } from '../random.js'
import { silentLogger } from '../silent-logger.js'
import type { VirtualClock, VirtualClockOptions } from '../time/virtual-clock.js'
import { type Law, lawsWith } from './law.js'
import type { LeaseAbility, LeaseBackend, LeaseSubject } from './lease-subject.js'
import { type Machine, type PassingTime, timeOf } from './passing-time.js'
import { longestOf, ttlOf } from './store-trial.js'

/** A rule that a `Lease` has to keep. */
export type LeaseLaw = Law<LeaseTrial, LeaseAbility>

const lacking: Readonly<Record<LeaseAbility, string>> = {
  wait: 'the lease does not wait for its turn',
  tokens: 'the lease has no fencing tokens',
  store: 'the lease is not over a LeaseStore, which could be disturbed',
  queue: 'the store is not ordered',
  change: 'the store cannot change a lease',
  break: 'the store cannot break a lease',
  infinite: 'the store has no leases without expiry',
  deletion: 'the subject cannot delete a record',
  'any-name': 'the lease does not take every name',
  closing: 'the store has no signal for its closing',
  'virtual-time': 'time is real',
}

export const leaseLawsOf = lawsWith<LeaseTrial, LeaseAbility, readonly []>(async () => [])

/** Makes laws that get a lease, which nobody has asked for yet. */
export const openLeaseLawsOf = lawsWith<LeaseTrial, LeaseAbility, readonly [TrialLease]>(async (trial) => [
  await trial.open(),
])

/** Makes laws that get a lease that is held. */
export const heldLeaseLawsOf = lawsWith<LeaseTrial, LeaseAbility, readonly [TrialLease]>(async (trial) => [
  await trial.openHeld(),
])

/** A lease of a trial, and the clock of its machine. */
export interface OpenOptions extends Omit<VirtualClockOptions, 'time'> {
  readonly owner?: string
  readonly name?: string
  readonly ttl?: number
  readonly maxHold?: number
  /** When it is renewed; with heartbeats every tenth of the ttl unless given. */
  readonly strategy?: TimeoutOptions['strategy']
  /** The lease under which it stands, in the same process. */
  readonly parent?: TrialLease
}

/** Cuts a lease off from its store, or heals it. */
type SetCut = (isCut: boolean) => Promise<void>

/** A lease of a trial, with its losses. */
export class TrialLease {
  readonly lease: Lease
  /** Every loss that a callback was called with, in order. */
  readonly losses: LeaseLost[] = []
  readonly #machine: Machine
  readonly #store: FaultyStore | undefined
  readonly #setCut: SetCut

  /** @internal */
  constructor(lease: Lease, machine: Machine, store: FaultyStore | undefined, setCut: SetCut) {
    this.lease = lease
    this.#machine = machine
    this.#store = store
    this.#setCut = setCut
  }

  /** The reasons of its losses, in order. */
  get reasons(): LeaseLostReason[] {
    return this.losses.map(({ reason }) => reason)
  }

  /** The same lease, with all that one over a store can do. */
  get storeLease(): StoreLease {
    assert(isStoreLease(this.lease))
    return this.lease
  }

  get clock(): Clock {
    return this.#machine.clock
  }

  /** @internal */
  get host(): Machine {
    return this.#machine
  }

  /** The machine that it runs on, where time is virtual. */
  get machine(): VirtualClock {
    assert(this.#machine.virtual !== undefined)
    return this.#machine.virtual
  }

  /** The store of the lease, to which faults can be added. */
  get store(): FaultyStore {
    assert(this.#store !== undefined)
    return this.#store
  }

  /** Adds a fault to the next heartbeat, whichever of the two methods the store has. */
  disturbHeartbeat(fault: Fault): void {
    this.store.inject(fault, 'renew')
    this.store.inject(fault, 'renewMany')
  }

  acquire(options: AcquireOptions = {}): Promise<boolean> {
    return this.lease.acquire({ ...options, onLost: (lost) => this.losses.push(lost) })
  }

  /** Cuts the lease off: from now on the store gives it no answer. */
  async cutOff(): Promise<void> {
    await this.#setCut(true)
  }

  async heal(): Promise<void> {
    await this.#setCut(false)
  }
}

/** The surroundings of one law over leases. */
export class LeaseTrial {
  /** The lease name, which no other trial uses. */
  readonly name = `law-${randomUUID()}`
  readonly ttl: number
  /** Within this time a waiter is granted the name of a holder that is cut off, in milliseconds. */
  readonly takeover: number
  readonly time: PassingTime
  readonly interval: number
  readonly operationTimeout: number
  readonly backend: LeaseBackend
  readonly #disturbed: FaultyStore[]
  readonly #opened: Lease[] = []
  readonly #random = new Random(1)

  private constructor(subject: LeaseSubject, time: PassingTime, backend: LeaseBackend, disturbed: FaultyStore[]) {
    const ttl = ttlOf(subject)
    this.#disturbed = disturbed
    this.ttl = ttl
    this.takeover = ttl * 2 + longestOf(ttl, backend.outside)
    this.interval = ttl / 10
    this.operationTimeout = ttl / 6
    this.time = time
    this.backend = backend
  }

  static async begin(subject: LeaseSubject): Promise<LeaseTrial> {
    const disturbed: FaultyStore[] = []
    const time = timeOf(subject, () => disturbed.some(({ inProgress }) => inProgress > 0))
    return new LeaseTrial(subject, time, await subject.start(time.createMachine().clock), disturbed)
  }

  /** Why the subject cannot run a law with these needs. */
  async lacks(needs: readonly LeaseAbility[]): Promise<string | undefined> {
    const lack = needs.find((need) => !this.backend.abilities.includes(need))
    return lack && lacking[lack]
  }

  /** A lease on the name of the trial, of an owner of its own. */
  async open(options: OpenOptions = {}): Promise<TrialLease> {
    const { owner = `owner-${this.#opened.length}`, name = this.name, ttl = this.ttl, drift, skew } = options
    const { maxHold, strategy, parent } = options
    const machine = parent?.host ?? this.time.createMachine({ drift, skew })
    const { clock } = machine
    let isCut = false
    let faulty: FaultyStore | undefined
    const lease = await this.backend.open({
      name,
      options: {
        owner,
        heartbeatTimeout: ttl,
        heartbeatInterval: this.interval,
        operationTimeout: this.operationTimeout,
        strategy,
        maxHold,
        parent: parent?.lease,
        clock,
        logger: silentLogger,
        // Jitter too is the same in every trial.
        random: () => this.#random.next(),
      },
      disturb: (store) => {
        faulty = new FaultyStore(store, { clock, plan: () => (isCut ? hang : undefined) })
        this.#disturbed.push(faulty)
        return faulty
      },
    })
    this.#opened.push(lease)
    const { cutOff, heal } = this.backend
    return new TrialLease(lease, machine, faulty, async (cut) => {
      if (cutOff === undefined || heal === undefined) isCut = cut
      else await (cut ? cutOff(lease) : heal(lease))
    })
  }

  /** A lease that is held: the name must be free. */
  async openHeld(options: OpenOptions = {}): Promise<TrialLease> {
    const opened = await this.open(options)
    assert.equal(await this.during(opened.acquire()), true, 'no other owner should hold the name')
    // The timers of the lease are armed in the turn after.
    await this.time.pass(this.time.isVirtual ? 0 : 1)
    return opened
  }

  /** A lease that was refused: another owner must hold the name. */
  async openRefused(): Promise<TrialLease> {
    const opened = await this.open()
    assert.equal(await this.during(opened.acquire()), false, 'another owner should hold the name')
    return opened
  }

  /** An undisturbed client of the store. */
  get outside(): LeaseStore {
    assert(this.backend.outside !== undefined)
    return this.backend.outside
  }

  pass(duration: number): Promise<void> {
    return this.time.pass(duration)
  }

  /** Lets time pass while a call is under way; fails where that takes longer than any call may. */
  during<T>(promise: Promise<T>, longest = this.takeover + this.ttl): Promise<T> {
    return this.time.until(promise, longest)
  }

  async end(): Promise<void> {
    for (const lease of this.#opened) {
      await this.during(Promise.allSettled([isStoreLease(lease) ? lease.close() : lease.release()]))
    }
    await this.backend.stop?.()
  }
}

const hang: Fault = { kind: 'hang' }
