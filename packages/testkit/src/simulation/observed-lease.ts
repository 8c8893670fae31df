import {
  type AcquireOptions,
  type HandOff,
  type LeaseEnvironment,
  type LeaseLost,
  type LeaseSettings,
  type LeaseStore,
  StoreLease,
} from '@leasehold/core'

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

/** Who watches what callers are told. */
export interface LeaseObserver {
  onAsked(asked: Asked): void
  onAnswered(asked: Asked): void
  onLost(asked: Asked, lost: LeaseLost): void
  onRelease(lease: ObservedLease): void
  onReleased(lease: ObservedLease, how: string): void
}

/** The lease of users, unchanged; what goes in and out is seen. */
export class ObservedLease extends StoreLease {
  /** The number of the node, for the history. */
  readonly node: number
  /** What is asked of it and has not ended. */
  unended = 0
  readonly #observer: LeaseObserver

  constructor(
    node: number,
    settings: LeaseSettings,
    store: LeaseStore,
    environment: LeaseEnvironment,
    observer: LeaseObserver,
  ) {
    super(settings, store, environment)
    this.node = node
    this.#observer = observer
  }

  override acquire(options: AcquireOptions = {}): Promise<boolean> {
    return this.#observe(options, (observed) => super.acquire(observed))
  }

  override adopt(handOff: HandOff, options: AcquireOptions = {}): Promise<boolean> {
    return this.#observe(options, (observed) => super.adopt(handOff, observed))
  }

  override release(): Promise<boolean> {
    return this.#leave(() => super.release(), String)
  }

  override handOff(to: { readonly owner?: string } = {}): Promise<HandOff> {
    // Without a valid lease it is refused, and whatever comes of the lease is still to be told.
    if (!this.checkLease()) return super.handOff(to)
    return this.#leave(
      () => super.handOff(to),
      ({ owner }) => `to ${owner}`,
    )
  }

  #observe(options: AcquireOptions, acquire: (options: AcquireOptions) => Promise<boolean>): Promise<boolean> {
    const observer = this.#observer
    const asked: Asked = { lease: this, outcome: 'pending', released: false, lost: undefined, fencingToken: undefined }
    observer.onAsked(asked)
    this.unended += 1
    const onLost = (lost: LeaseLost): void => {
      observer.onLost(asked, lost)
      options.onLost?.(lost)
    }
    const answered = acquire({ ...options, onLost })
    // Before whoever called can react: so that what is told in between counts as told too early.
    answered.then(
      (granted) => this.#onAnswered(asked, granted ? 'granted' : 'refused'),
      () => this.#onAnswered(asked, 'failed'),
    )
    return answered
  }

  #onAnswered(asked: Asked, outcome: Asked['outcome']): void {
    this.unended -= 1
    asked.outcome = outcome
    asked.fencingToken = this.fencingToken
    this.#observer.onAnswered(asked)
  }

  #leave<T>(leave: () => Promise<T>, describe: (how: T) => string): Promise<T> {
    this.unended += 1
    this.#observer.onRelease(this)
    const left = leave()
    left.then(
      (how) => this.#onLeft(describe(how)),
      () => this.#onLeft('unknown'),
    )
    return left
  }

  #onLeft(how: string): void {
    this.unended -= 1
    this.#observer.onReleased(this, how)
  }
}
