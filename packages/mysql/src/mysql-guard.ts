import { Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'

/**
 * Rejects a write with a smaller fencing token than one that was seen, with a `LeaseLostError`. The check and the write must be
 * one atomic step of the backend, and a deletion must keep the token.
 */
export class MysqlGuard implements FencingGuard {
  async write(resource: string, fencingToken: bigint | string, value: string, options?: GuardOptions): Promise<void> {
    await this.transact(resource, fencingToken, () => value, options)
  }

  async transact(
    resource: string,
    fencingToken: bigint | string,
    _change: (value: string | undefined) => string,
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('mysql', resource, fencingToken, options)
    fence.check(await this.#seen(fence))
    throw new Error('transact() is missing: write the value and the token, if the token is still the one that was seen')
  }

  async #seen(_fence: Fence): Promise<bigint | undefined> {
    throw new Error('#seen() is missing: return the largest token of the resource, or undefined')
  }
}
