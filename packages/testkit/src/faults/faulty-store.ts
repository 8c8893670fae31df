import {
  type Clock,
  type Grant,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  systemClock,
} from '@leasehold/core'
import { AbortableCall, type StoreCall, viewOf } from '@leasehold/core/store'
import { checkOptionNames, pause, untilAborted } from '@leasehold/core/store-kit'
import type { Fault, FaultPlan, StoreOperation } from './fault.js'

export interface FaultyStoreOptions {
  /** Decides on the faults of calls without a script; none by default. See `seededFaults`. */
  readonly plan?: FaultPlan | undefined
  /** Where delays come from; the machine's clock unless given. */
  readonly clock?: Clock | undefined
}

/** The operations that can be disturbed, and the place of the call among their arguments. */
const places: Readonly<Record<StoreOperation, number>> = {
  acquire: 1,
  renew: 1,
  renewMany: 1,
  release: 1,
  read: 1,
  change: 2,
  update: 2,
  raiseToken: 2,
  break: 2,
  withdraw: 2,
}

const operations = Object.keys(places) as StoreOperation[]

interface Scripted {
  readonly fault: Fault
  readonly operation: StoreOperation | undefined
}

/**
 * A store in front of another store that adds the faults of a network to its calls: they come late, fail before or
 * after they were carried out, hang, come twice or out of order. When the caller aborts its call, the call rejects.
 */
export class FaultyStore implements LeaseStore {
  readonly limits!: LeaseStore['limits']
  readonly kind!: string
  readonly closed?: AbortSignal
  readonly acquire!: LeaseStore['acquire']
  readonly renew!: LeaseStore['renew']
  readonly release!: LeaseStore['release']
  readonly read!: LeaseStore['read']
  readonly change?: NonNullable<LeaseStore['change']>
  readonly break?: NonNullable<LeaseStore['break']>
  readonly update?: NonNullable<LeaseStore['update']>
  readonly raiseToken?: NonNullable<LeaseStore['raiseToken']>
  readonly list?: NonNullable<LeaseStore['list']>
  readonly withdraw?: NonNullable<LeaseStore['withdraw']>
  readonly watch?: NonNullable<LeaseStore['watch']>
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly renewMany?: NonNullable<LeaseStore['renewMany']>
  readonly probe?: NonNullable<LeaseStore['probe']>
  /** Closes the other store, which is not disturbed. */
  readonly close!: LeaseStore['close']
  readonly #store: LeaseStore
  readonly #plan: FaultPlan
  readonly #clock: Clock
  #script: Scripted[] = []
  #held: (() => void)[] = []
  #count = 0
  #inProgress = 0

  constructor(store: LeaseStore, options: FaultyStoreOptions = {}) {
    checkOptionNames<FaultyStoreOptions>('FaultyStore', options, { plan: true, clock: true })
    const { plan = () => undefined, clock = systemClock } = options
    this.#store = store
    this.#plan = plan
    this.#clock = clock
    const overrides = operations.map((operation) => [operation, () => this.#disturbed(operation)])
    const list = (own: NonNullable<LeaseStore['list']>): LeaseStore['list'] => {
      return (prefix, call) => this.#listed(own(prefix, call))
    }
    Object.assign(this, { kind: 'store' }, viewOf(store, { ...Object.fromEntries(overrides), list }))
  }

  /**
   * The number of calls that the other store is executing now, without those that hang or are delayed. A listing counts while
   * its next record is awaited.
   */
  get inProgress(): number {
    return this.#inProgress
  }

  /** Adds a fault to the next call, or to the next of one operation. Several faults are used up in their order. */
  inject(fault: Fault, operation?: StoreOperation): void {
    this.#script.push({ fault, operation })
  }

  #disturbed(operation: StoreOperation): (...args: unknown[]) => Promise<unknown> {
    const place = places[operation]
    return async (...args) => {
      const ask = this.#store[operation] as (...args: unknown[]) => Promise<unknown>
      const call = args[place] as StoreCall
      this.#count += 1
      const fault = this.#scripted(operation) ?? this.#plan({ operation, name: nameIn(args[0]), count: this.#count })
      const before = this.#held
      this.#held = []
      try {
        return await this.#carryOut(fault, call, (own = call) =>
          this.#counted(() => ask.apply(this.#store, args.with(place, own))),
        )
      } finally {
        for (const release of before) release()
      }
    }
  }

  async #carryOut<T>(fault: Fault | undefined, call: StoreCall, ask: (call?: StoreCall) => Promise<T>): Promise<T> {
    switch (fault?.kind) {
      case undefined:
        return await ask()
      case 'delay':
        await pause(this.#clock, fault.duration, call)
        return await ask()
      case 'answer-late': {
        const outcome = await ask()
        await new Promise<void>((done) => this.#clock.schedule(fault.duration, done))
        return outcome
      }
      case 'fail-before':
        throw fault.error ?? failure()
      case 'fail-after':
        await ask()
        throw fault.error ?? failure()
      case 'hang':
        if (fault.applied === true) await ask()
        return await untilAborted(never(), call)
      case 'arrive-late':
        // The network carries it to the end, though the caller gives up before.
        this.#clock.schedule(fault.duration, () => void ask(new AbortableCall()).catch(() => {}))
        return await untilAborted(never(), call)
      case 'duplicate': {
        const outcome = await ask()
        // The outcome of the second call is ignored.
        await ask().catch(() => {})
        return outcome
      }
      case 'reorder':
        await untilAborted(new Promise<void>((release) => this.#held.push(release)), call)
        return await ask()
    }
  }

  /** Listings are not disturbed. */
  async *#listed(listing: AsyncIterable<LeaseRecord>): AsyncGenerator<LeaseRecord> {
    const records = listing[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#counted(() => records.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await records.return?.()
    }
  }

  async #counted<T>(ask: () => Promise<T>): Promise<T> {
    this.#inProgress += 1
    try {
      return await ask()
    } finally {
      this.#inProgress -= 1
    }
  }

  #scripted(operation: StoreOperation): Fault | undefined {
    const place = this.#script.findIndex((scripted) => (scripted.operation ?? operation) === operation)
    return place < 0 ? undefined : this.#script.splice(place, 1)[0]?.fault
  }
}

/** The lease name in the first argument of an operation: the name itself, a grant or a request. */
function nameIn(first: unknown): string | undefined {
  return typeof first === 'string' ? first : (first as Partial<Grant>).name
}

function never(): Promise<never> {
  return new Promise(() => {})
}

function failure(): LeaseUnavailableError {
  return new LeaseUnavailableError('the connection was lost', { store: 'faulty' })
}
