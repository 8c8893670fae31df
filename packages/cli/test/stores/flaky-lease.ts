import {
  type LeaseRecord,
  type LeaseSettings,
  LeaseUnavailableError,
  MemoryLeaseStore,
  StoreLease,
} from '@leasehold/core'

/** Its second and third read fail. */
class FlakyStore extends MemoryLeaseStore {
  #reads = 0

  override async read(name: string): Promise<LeaseRecord | undefined> {
    this.#reads += 1
    if (this.#reads === 2 || this.#reads === 3) throw new LeaseUnavailableError('the server is restarting')
    return await super.read(name)
  }
}

export function flakyLease(settings: LeaseSettings): StoreLease {
  return new StoreLease(settings, new FlakyStore())
}
