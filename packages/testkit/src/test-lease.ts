import {
  type AcquireOptions,
  type Held,
  Lease,
  type LeasedWork,
  type LeaseLost,
  LeaseLostError,
  type LeaseLostReason,
  LeaseSettings,
} from '@leasehold/core'
import { checkOptionNames } from '@leasehold/core/store-kit'

export interface TestLeaseOptions {
  readonly name?: string | undefined
  readonly owner?: string | undefined
  /** The answer of acquisitions: see `TestLease.answer`. */
  readonly answer?: TestAnswer | undefined
}

/** `true`: granted. `false`: someone else has it. An error: unknown. `later`: when the test says so. */
export type TestAnswer = boolean | Error | 'later'

interface Asking {
  readonly options: AcquireOptions
  readonly resolve: (granted: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * A lease for unit tests of code that runs under a lease: granted, refused or lost when the test says so. It keeps the
 * contract of `Lease`: `onLost` is called once for each grant, after `acquire` has resolved, and never after a release.
 */
export class TestLease extends Lease {
  /** The answer of acquisitions; `true` by default. */
  answer: TestAnswer
  /** How often `acquire` was called. */
  acquired = 0
  /** How often `release` was called. */
  released = 0
  #asking: Asking[] = []
  #holders: AcquireOptions[] = []
  #isHeld = false
  #isValid = false
  #token = 0n
  #controller = new AbortController()

  constructor(options: TestLeaseOptions = {}) {
    const { name = 'test', owner = 'test', answer = true } = options
    super(new LeaseSettings({ name, owner }))
    checkOptionNames<TestLeaseOptions>('TestLease', options, { name: true, owner: true, answer: true })
    this.answer = answer
  }

  override get fencingToken(): bigint | undefined {
    return this.#isHeld ? this.#token : undefined
  }

  /** As for every `Lease`, but without an end: a test lease ends when the test says so. */
  override get validUntil(): number {
    return this.#isValid ? Number.POSITIVE_INFINITY : 0
  }

  /** As for every `Lease`. Reading it does not count as a call of `acquire`. */
  override get signal(): AbortSignal {
    return this.#isHeld ? this.#controller.signal : AbortSignal.abort(this.#lossOf('expired'))
  }

  /** As for every `Lease`. A test lease always has a fencing token. */
  override run<T>(work: LeasedWork<T>, options?: AcquireOptions): Promise<T> {
    return super.run(work as (held: Held) => Promise<T>, options)
  }

  /** Whether an acquisition waits for its answer. */
  get isAsked(): boolean {
    return this.#asking.length > 0
  }

  async acquire(options: AcquireOptions = {}): Promise<boolean> {
    this.acquired += 1
    options.signal?.throwIfAborted()
    if (this.#isHeld) {
      this.#holders.push(options)
      return true
    }
    const { answer } = this
    if (answer instanceof Error) throw answer
    if (answer === true) this.#hold([options])
    return answer === 'later' ? await this.#ask(options) : answer
  }

  async release(): Promise<boolean> {
    this.released += 1
    this.#end()
    return true
  }

  checkLease(): boolean {
    return this.#isValid
  }

  /** Answers pending acquisitions: granted. */
  grant(): void {
    const asking = this.#asking.splice(0)
    this.#hold(asking.map(({ options }) => options))
    for (const { resolve } of asking) resolve(true)
  }

  /** Answers pending acquisitions: another owner holds the lease. */
  refuse(): void {
    for (const { resolve } of this.#asking.splice(0)) resolve(false)
  }

  /** Rejects pending acquisitions: the outcome is unknown. */
  fail(error: Error): void {
    for (const { reject } of this.#asking.splice(0)) reject(error)
  }

  /** Ends the validity without a notification, as a blocked event loop or a pause does. Follow it with `lose`. */
  stall(): void {
    this.#isValid = false
  }

  /**
   * Ends the lease: `checkLease` returns false at once. Resolves when all callbacks were called, and rejects with an error
   * of one of them after the others were called as well. Has no effect if the lease is not held.
   */
  async lose(reason: LeaseLostReason = 'expired', details: Omit<LeaseLost, 'reason'> = {}): Promise<void> {
    const [holders, controller] = [this.#holders, this.#controller]
    if (!this.#isHeld) return
    this.#end()
    // Callers that were granted the lease a moment ago must see that first.
    await new Promise<void>((resolve) => setImmediate(resolve))
    controller.abort(this.#lossOf(reason, details.cause))
    await Promise.all(holders.map(async ({ onLost }) => void onLost?.({ ...details, reason })))
  }

  #hold(holders: readonly AcquireOptions[]): void {
    if (holders.length === 0) return
    this.#isHeld = true
    this.#isValid = true
    this.#token += 1n
    this.#controller = new AbortController()
    this.#holders = [...holders]
  }

  #end(): void {
    this.#isHeld = false
    this.#isValid = false
    this.#holders = []
  }

  #lossOf(reason: LeaseLostReason, cause?: unknown): LeaseLostError {
    const { name: leaseName, owner } = this.settings
    return new LeaseLostError(`lease '${leaseName}' was lost: ${reason}`, { leaseName, owner, reason, cause })
  }

  #ask(options: AcquireOptions): Promise<boolean> {
    const { signal } = options
    let giveUp = (): void => {}
    return new Promise<boolean>((resolve, reject) => {
      const asking: Asking = { options, resolve, reject }
      giveUp = () => {
        this.#asking = this.#asking.filter((other) => other !== asking)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#asking.push(asking)
    }).finally(() => signal?.removeEventListener('abort', giveUp))
  }
}
