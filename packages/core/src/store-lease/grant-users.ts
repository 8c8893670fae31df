import type { AcquireCaller } from '../engine/acquire-caller.js'
import type { LeaseLost } from '../errors/lease-lost.js'
import type { LeaseLostError } from '../errors/lease-lost-error.js'
import type { LeaseRun, RunGrant } from '../lease/lease-run.js'
import { Deferred } from '../time/deferred.js'
import { isThenable, readGuarded } from '../user-code/guarded-calls.js'

type OnLost = (lost: LeaseLost) => void

/** The code that works under the current grant of a lease: the callbacks, the signal and the run that hear of its loss. */
export class GrantUsers {
  #onLost: readonly OnLost[] = noCallbacks
  #controller: AbortController | undefined
  #isKept = false
  /** The id of the current grant, until it is left or its loss is reported. */
  #grantId: string | undefined
  /** Settles when the work under the current grant has ended, after its loss; made when it is asked for. */
  #losing: Deferred<void> | undefined
  #overdue = 0

  /** How many pieces of work go on although the loss of their grant was reported. */
  get overdue(): number {
    return this.#overdue
  }

  /** Whether an `acquire()` or `adopt()` asked for the current grant, so that a run leaves it held. */
  get isKept(): boolean {
    return this.#isKept
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** A new grant was obtained for these callers. */
  begin(grant: RunGrant, callers: readonly AcquireCaller[]): void {
    this.#onLost = noCallbacks
    this.#isKept = false
    this.#grantId = grant.grantId
    for (const { run, options } of callers) {
      if (run === undefined) this.keep(options.onLost)
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
    this.#grantId = undefined
  }

  /** The grant was released or handed off. */
  end(): void {
    this.#controller = undefined
  }

  /** Settles when the work under a grant has ended, after which its name may be freed; `undefined` if there is none. */
  workUnder(grantId: string, run: LeaseRun | undefined): Promise<void> | undefined {
    if (grantId !== this.#grantId) return run?.working
    // Its loss is reported next: the callbacks then return the work that still goes on.
    this.#losing ??= new Deferred()
    return this.#losing.promise
  }

  /**
   * Reports the loss of the grant. `run`: the run under it. The returned promise settles when the work of the run, and that of
   * the callbacks that returned promises, has ended; `undefined` if there is none. Never rejects.
   */
  lose(
    lost: LeaseLost,
    error: LeaseLostError,
    run: LeaseRun | undefined,
    report: (failure: unknown) => void,
  ): Promise<void> | undefined {
    const losing = this.#losing
    this.#losing = undefined
    this.#grantId = undefined
    const callbacks = run?.onLost === undefined ? this.#onLost : [...this.#onLost, run.onLost]
    const controller = this.#controller
    this.#onLost = noCallbacks
    this.#controller = undefined
    controller?.abort(error)
    run?.end(error)
    const work: unknown[] = run?.working === undefined ? [] : [run.working]
    for (const callback of callbacks) work.push(readGuarded(() => callback(lost), report))
    const pending = work.filter(isThenable)
    const ended = pending.length === 0 ? undefined : Promise.allSettled(pending).then(() => {})
    if (ended !== undefined) {
      this.#overdue += 1
      void ended.then(() => {
        this.#overdue -= 1
      })
    }
    if (losing !== undefined) void (ended ?? Promise.resolve()).then(() => losing.resolve())
    return ended
  }
}

const noCallbacks: readonly OnLost[] = []
