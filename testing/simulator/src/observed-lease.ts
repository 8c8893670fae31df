import {
  type AcquireOptions,
  type HandOff,
  type LeasedWork,
  type LeaseLost,
  type LeaseSettings,
  type LeaseStore,
  type Metadata,
  type ReleaseOptions,
  StoreLease,
} from '@leasehold/core'
import type { LeaseEnvironment } from '@leasehold/core/store'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'

/** One call of `acquire` or `adopt`, from the side of the caller. */
export interface Asked {
  readonly lease: ObservedLease
  outcome: 'pending' | 'granted' | 'refused' | 'failed'
  /** Whether a release was asked for since it was granted. */
  released: boolean
  lost: LeaseLost | undefined
  /** Of the grant. */
  fencingToken: bigint | undefined
}

/** One call of `run`, from the side of the caller. */
export interface ObservedRun {
  readonly lease: ObservedLease
  work: 'not begun' | 'begun' | 'ended'
  isSettled: boolean
  /** Whether the user released the lease, handed it off or closed it since the work began. */
  released: boolean
  /** Of the grant that the work was given. */
  fencingToken: bigint | undefined
  signal: AbortSignal | undefined
}

/** Observes the calls of users, and their outcomes. */
export interface LeaseObserver {
  onAsked(asked: Asked): void
  onAnswered(asked: Asked): void
  onLost(asked: Asked, lost: LeaseLost): void
  onRelease(lease: ObservedLease): void
  onReleased(lease: ObservedLease, how: string): void
  onUpdated(lease: ObservedLease, fencingToken: bigint, metadata: Metadata): void
  onRunAsked(run: ObservedRun): void
  onWorkBegun(run: ObservedRun): void
  onRunSettled(run: ObservedRun, how: 'resolved' | 'rejected', error?: unknown): void
}

/** The process of a lease. */
export interface LeaseHost {
  readonly node: number
  readonly machine: VirtualClock
  readonly store: LeaseStore
  /** Whether it can look at its clock. */
  readonly isAwake: boolean
}

/** The unmodified lease. Users get its {@link ObservedLease.front}, which reports their calls to the simulator. */
export class ObservedLease extends StoreLease {
  readonly process: LeaseHost
  /** The same lease for users. Their calls are observed; calls that the lease makes on itself, as in `run`, are not. */
  readonly front: StoreLease
  unended = 0
  readonly #monitor: LeaseObserver
  readonly #onLost: (lost: LeaseLost) => unknown
  /** The ids of its grants so far. */
  readonly #grants = new Set<string>()

  /** `onLost`: the user's part of the callback of each `acquire`. */
  constructor(
    process: LeaseHost,
    settings: LeaseSettings,
    environment: LeaseEnvironment,
    monitor: LeaseObserver,
    onLost: (lost: LeaseLost) => unknown,
  ) {
    super(settings, process.store, environment)
    this.process = process
    this.#monitor = monitor
    this.#onLost = onLost
    this.front = this.#createFront()
    this.on('acquired', ({ grantId }) => this.#grants.add(grantId))
  }

  /** Whether the grant is, or was, one of this lease. */
  owns(grantId: string): boolean {
    return this.#grants.has(grantId)
  }

  #createFront(): StoreLease {
    const release = (options?: ReleaseOptions): Promise<boolean> => this.#leave(() => this.release(options), String)
    const observed: Partial<StoreLease> = {
      acquire: (options) => this.#observe(options, (seen) => this.acquire(seen)),
      adopt: (handOff, options) => this.#observe(options, (seen) => this.adopt(handOff, seen)),
      release,
      update: (metadata) => this.#observeUpdate(metadata),
      renew: () => this.#count(() => this.renew()),
      handOff: (to) => this.#handOff(to),
      run: (work, options) => this.#observeRun(work, options),
      close: () => this.#close(),
      [Symbol.asyncDispose]: async () => {
        await release()
      },
    }
    const front: StoreLease = new Proxy<StoreLease>(this, {
      get: (lease, key) => {
        if (Object.hasOwn(observed, key)) return Reflect.get(observed, key)
        const value = Reflect.get(lease, key, lease)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const result = value.apply(lease, args)
          return result === lease ? front : result
        }
      },
    })
    return front
  }

  /** Counts a call until it has settled. `onResolved` and `onRejected` run before its caller can react. */
  #count<T>(
    call: () => Promise<T>,
    onResolved: (value: T) => void = () => {},
    onRejected: (error: unknown) => void = () => {},
  ): Promise<T> {
    const ended = (): void => {
      this.unended -= 1
    }
    this.unended += 1
    const settled = call()
    settled.then(
      (value) => {
        ended()
        onResolved(value)
      },
      (error: unknown) => {
        ended()
        onRejected(error)
      },
    )
    return settled
  }

  #handOff(to?: { readonly owner?: string }): Promise<HandOff> {
    // Without a valid lease the call is rejected, and later losses still count.
    if (!this.checkLease()) return this.handOff(to)
    return this.#leave(
      () => this.handOff(to),
      ({ owner }) => `to ${owner}`,
    )
  }

  #observeUpdate(metadata: Metadata): Promise<boolean> {
    const { fencingToken } = this
    return this.#count(
      () => this.update(metadata),
      (isWritten) => {
        if (isWritten && fencingToken !== undefined) this.#monitor.onUpdated(this, fencingToken, metadata)
      },
    )
  }

  #close(): Promise<void> {
    const monitor = this.#monitor
    const closed = this.#count(
      () => this.close(),
      () => monitor.onReleased(this, 'by closing'),
      () => monitor.onReleased(this, 'unknown'),
    )
    // The holder is notified of this loss, and not of later ones.
    monitor.onRelease(this)
    return closed
  }

  #leave<T>(leave: () => Promise<T>, describe: (how: T) => string): Promise<T> {
    const monitor = this.#monitor
    monitor.onRelease(this)
    return this.#count(
      leave,
      (how) => monitor.onReleased(this, describe(how)),
      () => monitor.onReleased(this, 'unknown'),
    )
  }

  #observe(options: AcquireOptions = {}, acquire: (options: AcquireOptions) => Promise<boolean>): Promise<boolean> {
    const monitor = this.#monitor
    const asked: Asked = { lease: this, outcome: 'pending', released: false, lost: undefined, fencingToken: undefined }
    monitor.onAsked(asked)
    const onLost = (lost: LeaseLost): unknown => {
      monitor.onLost(asked, lost)
      options.onLost?.(lost)
      return this.#onLost(lost)
    }
    const onAnswered = (outcome: Asked['outcome']): void => {
      asked.outcome = outcome
      asked.fencingToken = this.fencingToken
      monitor.onAnswered(asked)
    }
    return this.#count(
      () => acquire({ ...options, onLost }),
      (granted) => onAnswered(granted ? 'granted' : 'refused'),
      () => onAnswered('failed'),
    )
  }

  #observeRun<T>(work: LeasedWork<T>, options?: AcquireOptions): Promise<T> {
    const monitor = this.#monitor
    const run: ObservedRun = {
      lease: this,
      work: 'not begun',
      isSettled: false,
      released: false,
      fencingToken: undefined,
      signal: undefined,
    }
    const onSettled = (how: 'resolved' | 'rejected', error?: unknown): void => {
      run.isSettled = true
      monitor.onRunSettled(run, how, error)
    }
    const onEnded = (): void => {
      run.work = 'ended'
    }
    const observedWork: LeasedWork<T> = (held) => {
      run.fencingToken = held.fencingToken
      run.signal = held.signal
      run.work = 'begun'
      monitor.onWorkBegun(run)
      try {
        return work(held).finally(onEnded)
      } catch (error) {
        // Thrown before it returned a promise.
        onEnded()
        throw error
      }
    }
    monitor.onRunAsked(run)
    return this.#count(
      () => this.run(observedWork, options),
      () => onSettled('resolved'),
      (error) => onSettled('rejected', error),
    )
  }
}

/** A lease in a message: its node, its owner and its token. */
export function of(lease: ObservedLease): string {
  return `node ${lease.process.node} (${lease.settings.owner}, token ${lease.fencingToken ?? 'none'})`
}
