import type { AcquireOptions, Clock, LeaseLost, Metadata } from '@leasehold/core'
import { AbortListeners } from '@leasehold/core/store'

/** The options of `acquire` that hold for several leases at once. */
export type AllOfAcquireOptions = Pick<AcquireOptions, 'wait' | 'signal' | 'onLost' | 'metadata'>

/** One caller of `acquire`. */
interface Claim {
  readonly deadline: number
  readonly options: AllOfAcquireOptions
  readonly resolve: (isHeld: boolean) => void
  readonly reject: (error: unknown) => void
  cancel: (() => void) | undefined
  unlisten: () => void
}

/** The callers that share one attempt. Each waits for as long as it asked for, and until its own signal aborts. */
export class JointAttempt {
  readonly #clock: Clock
  readonly #grace: number
  readonly #onEmpty: () => void
  readonly #aborts = new AbortListeners()
  readonly #claims = new Set<Claim>()

  /**
   * `grace`: how long the last round of an attempt may take. `onEmpty` is called when the last caller has given up.
   */
  constructor(clock: Clock, grace: number, onEmpty: () => void) {
    this.#clock = clock
    this.#grace = grace
    this.#onEmpty = onEmpty
  }

  get isEmpty(): boolean {
    return this.#claims.size === 0
  }

  /** For how long the caller that waits longest still waits, in milliseconds. */
  get remaining(): number {
    return Math.max(0, this.#latest - this.#clock.now())
  }

  /** That of the first caller that gave any. */
  get metadata(): Metadata | undefined {
    return [...this.#claims].find(({ options }) => options.metadata !== undefined)?.options.metadata
  }

  get callbacks(): ((lost: LeaseLost) => void)[] {
    return [...this.#claims].flatMap(({ options: { onLost } }) => onLost ?? [])
  }

  add(options: AllOfAcquireOptions): Promise<boolean> {
    const { wait = 0, signal } = options
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.now() + wait
      const claim: Claim = { deadline, options, resolve, reject, cancel: undefined, unlisten: () => {} }
      this.#claims.add(claim)
      if (signal !== undefined) {
        claim.unlisten = this.#aborts.add(signal, () => this.#giveUp(claim, () => reject(signal.reason)))
      }
      this.#limit()
    })
  }

  /** Ends the attempt for all callers. */
  settle(outcome: { readonly isHeld: boolean } | { readonly error: unknown }): void {
    for (const claim of [...this.#claims]) {
      this.#remove(claim)
      if ('error' in outcome) claim.reject(outcome.error)
      else claim.resolve(outcome.isHeld)
    }
  }

  get #latest(): number {
    return Math.max(...Array.from(this.#claims, ({ deadline }) => deadline))
  }

  /** Ends the wait of callers that wait for less time than others: the attempt itself goes on for the others. */
  #limit(): void {
    const latest = this.#latest
    for (const claim of this.#claims) {
      if (claim.cancel !== undefined || claim.deadline >= latest) continue
      const delay = claim.deadline - this.#clock.now() + this.#grace
      claim.cancel = this.#clock.schedule(Math.max(0, delay), () => this.#giveUp(claim, () => claim.resolve(false)))
    }
  }

  #giveUp(claim: Claim, settle: () => void): void {
    if (!this.#claims.has(claim)) return
    this.#remove(claim)
    settle()
    if (this.isEmpty) this.#onEmpty()
  }

  #remove(claim: Claim): void {
    this.#claims.delete(claim)
    claim.cancel?.()
    claim.unlisten()
  }
}
