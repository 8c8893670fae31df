import type { Claim } from './engine/claims.js'
import type { LeaseLostError } from './errors/lease-lost-error.js'
import type { LeaseLost } from './lease-lost.js'
import type { LeaseRun, RunGrant } from './run/lease-run.js'
import { callGuarded } from './user-code.js'

type OnLost = (lost: LeaseLost) => void

/** The code that works under the current grant of a lease: the callbacks, the signal and the run that hear of its loss. */
export class GrantUsers {
  #onLost: readonly OnLost[] = noCallbacks
  #controller: AbortController | undefined
  #isKept = false

  /** Whether an `acquire()` or `adopt()` asked for the current grant, so that a run leaves it held. */
  get isKept(): boolean {
    return this.#isKept
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** A new grant was obtained for these callers. */
  begin(grant: RunGrant, claims: readonly Claim[]): void {
    this.#onLost = noCallbacks
    this.#isKept = false
    this.join(grant, claims)
  }

  /** These callers share the current grant. */
  join(grant: RunGrant, claims: readonly Claim[]): void {
    for (const { run, onLost } of claims) {
      if (run === undefined) this.keep(onLost)
      else run.begin(grant)
    }
  }

  /** An `acquire()` asks for the current grant. */
  keep(onLost: OnLost | undefined): void {
    this.#isKept = true
    if (onLost === undefined) return
    // A literal has room for its own elements only: V8 gives a spread into an array room for 17.
    this.#onLost = this.#onLost === noCallbacks ? [onLost] : [...this.#onLost, onLost]
  }

  /** The grant is being released or handed off: from now on no loss is reported. */
  leave(): void {
    this.#onLost = noCallbacks
  }

  /** The grant was released or handed off. */
  end(): void {
    this.#controller = undefined
  }

  /** Reports the loss of the grant. `run`: the run under it. */
  lose(lost: LeaseLost, error: LeaseLostError, run: LeaseRun | undefined, report: (failure: unknown) => void): void {
    const callbacks = run?.onLost === undefined ? this.#onLost : [...this.#onLost, run.onLost]
    const controller = this.#controller
    this.#onLost = noCallbacks
    this.#controller = undefined
    controller?.abort(error)
    run?.end(error)
    for (const callback of callbacks) callGuarded(() => callback(lost), report)
  }
}

const noCallbacks: readonly OnLost[] = []
