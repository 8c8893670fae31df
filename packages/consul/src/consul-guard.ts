import { checkFence, checkFencingToken } from '@leasehold/core/store'

/**
 * A fencing guard: rejects a write with a smaller fencing token than one that was seen, with a `LeaseLostError`. The check
 * and the write must be one atomic step of the backend, and a deletion must keep the token.
 */
export class ConsulGuard {
  async write(resource: string, fencingToken: bigint, _value: string): Promise<void> {
    checkFencingToken(fencingToken, { leaseName: resource, store: 'consul' })
    const seen = await this.#seen(resource)
    checkFence(resource, fencingToken, seen, 'consul')
    throw new Error('write() is missing: write the value and the token, if the token is still the one that was seen')
  }

  async #seen(_resource: string): Promise<bigint | undefined> {
    throw new Error('#seen() is missing: return the largest token of the resource, or undefined')
  }
}
