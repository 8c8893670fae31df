import { Fence, type FencingGuard, type GuardOptions } from '../store-kit/fence.js'

/**
 * The fencing guard of values in this process: a resource for tests, and for the parts of one process. Its methods are
 * synchronous, so that the check of the token and the write are one step.
 */
export class MemoryGuard<T = unknown> implements FencingGuard {
  readonly #values = new Map<string, T>()
  /** The largest token of each resource. */
  readonly #tokens = new Map<string, bigint>()

  /** The value of the resource, without a token; `undefined` if it was never written, or was deleted. */
  read(resource: string): T | undefined {
    return this.#values.get(resource)
  }

  /** Throws a `LeaseLostError`, and writes nothing, if the resource was written or deleted under a larger token. */
  write(resource: string, fencingToken: bigint | string, value: T, options?: GuardOptions): void {
    this.transact(resource, fencingToken, () => void this.#values.set(resource, value), options)
  }

  /** Deletes the value, with the same check as `write`. The guard keeps the token. */
  delete(resource: string, fencingToken: bigint | string, options?: GuardOptions): void {
    this.transact(resource, fencingToken, () => void this.#values.delete(resource), options)
  }

  /**
   * Runs the synchronous `work` and returns its result. Throws a `LeaseLostError` and does not run it if the resource was
   * written under a larger token.
   */
  transact<R>(resource: string, fencingToken: bigint | string, work: () => R, options?: GuardOptions): R {
    const fence = new Fence('memory', resource, fencingToken, options)
    fence.check(this.#tokens.get(resource))
    this.#tokens.set(resource, fence.token)
    return fence.run(work)
  }
}
