import type { LeaseLost } from '../errors/lease-lost.js'
import type { LeaseLostError } from '../errors/lease-lost-error.js'
import { Deferred } from '../time/deferred.js'
import { type Held, heldOf } from './held.js'

export interface RunGrant {
  readonly grantId: string
  readonly fencingToken: bigint | undefined
}

/** One run: gets a grant, does its work, and ends with the work or with the grant, whichever ends first. */
export class LeaseRun {
  /** The callback that the caller of `run` gave. */
  readonly onLost: ((lost: LeaseLost) => void) | undefined
  readonly #controller = new AbortController()
  readonly #ended = new Deferred<never>()
  #grant: RunGrant | undefined
  #working: Promise<void> | undefined

  constructor(onLost: ((lost: LeaseLost) => void) | undefined) {
    this.onLost = onLost
    // The run may end before anything waits for it, or after its work.
    this.#ended.promise.catch(() => {})
  }

  /** Settles when the work has ended, which may be long after the run; `undefined` while no work is in progress. */
  get working(): Promise<void> | undefined {
    return this.#working
  }

  isUnder(grant: Pick<RunGrant, 'grantId'> | undefined): boolean {
    return this.#grant !== undefined && this.#grant.grantId === grant?.grantId
  }

  begin(grant: RunGrant): void {
    this.#grant = grant
  }

  /** The grant has ended, or is not wanted any more: aborts the signal of the work and rejects the run. */
  end(error: LeaseLostError): void {
    this.#ended.reject(error)
    this.#controller.abort(error)
  }

  throwIfEnded(): void {
    this.#controller.signal.throwIfAborted()
  }

  /**
   * Does the work under the lease, unless the run has ended. Rejects as soon as the run ends, even if the work ignores its
   * signal; the outcome of such work is dropped.
   */
  async do<T>(lease: Held, work: (held: Held) => Promise<T>): Promise<T> {
    this.throwIfEnded()
    const grant = this.#grant
    if (grant === undefined) throw new Error('a run was started without a grant')
    const held = heldOf(lease, { signal: this.#controller.signal, fencingToken: grant.fencingToken })
    // `async`: an error that the work throws before it returns a promise becomes a rejection, too.
    const done = (async () => await work(held))()
    const end = (): void => {
      this.#working = undefined
    }
    this.#working = done.then(end, end)
    return await Promise.race([this.#ended.promise, done])
  }
}
