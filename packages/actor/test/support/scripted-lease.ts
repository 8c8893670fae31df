import { type AcquireOptions, Lease, type LeaseLost, LeaseSettings } from '@leasehold/core'

interface Call {
  readonly options: AcquireOptions
  readonly resolve: (granted: boolean) => void
  readonly reject: (error: unknown) => void
}

/** A lease that answers as the test directs, and counts calls, grants and losses. */
export class ScriptedLease extends Lease {
  /** Calls of `acquire`. */
  acquires = 0
  /** Calls of `release`. */
  releases = 0
  grants = 0
  losses = 0
  /** Grants that a release has ended. */
  freed = 0
  /** Set to `false` to make `checkLease` return `false` without a call of `onLost`. */
  valid = true
  /** The result of `release`. */
  onRelease: () => Promise<boolean> | boolean = () => true
  /** Replaces `acquire`, which otherwise waits for `grant`, `deny` or `fail`. */
  onAcquire: (() => Promise<boolean>) | undefined
  readonly #pending: Call[] = []
  #current: Call | undefined

  constructor(name = 'orders') {
    super(new LeaseSettings({ name, owner: 'me' }))
  }

  get isHeld(): boolean {
    return this.#current !== undefined
  }

  /** Whether a call of `acquire` is pending. */
  get isAsked(): boolean {
    return this.#pending.length > 0
  }

  /** The options of the pending `acquire`. */
  get asked(): AcquireOptions {
    return this.#next(false).options
  }

  override acquire(options: AcquireOptions = {}): Promise<boolean> {
    this.acquires += 1
    if (this.onAcquire !== undefined) return this.onAcquire()
    return new Promise((resolve, reject) => this.#pending.push({ options, resolve, reject }))
  }

  override async release(): Promise<boolean> {
    this.releases += 1
    if (this.#current !== undefined) this.freed += 1
    this.#current = undefined
    return await this.onRelease()
  }

  override checkLease(): boolean {
    return this.isHeld && this.valid
  }

  grant(): void {
    const call = this.#next(true)
    this.grants += 1
    this.valid = true
    this.#current = call
    call.resolve(true)
  }

  deny(): void {
    this.#next(true).resolve(false)
  }

  fail(error: unknown): void {
    this.#next(true).reject(error)
  }

  lose(lost: LeaseLost = { reason: 'expired' }): void {
    const call = this.#current
    if (call === undefined) throw new Error('the lease is not held')
    this.#current = undefined
    this.losses += 1
    call.options.onLost?.(lost)
  }

  #next(take: boolean): Call {
    const call = take ? this.#pending.shift() : this.#pending[0]
    if (call === undefined) throw new Error('no acquire is pending')
    return call
  }
}
