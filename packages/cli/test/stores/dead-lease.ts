import { type LeaseSettings, LeaseUnavailableError, MemoryLeaseStore, StoreLease } from '@leasehold/core'

/** Its server cannot be reached. */
class DeadStore extends MemoryLeaseStore {
  override async read(): Promise<never> {
    throw new LeaseUnavailableError('there is no server')
  }
}

export function deadLease(settings: LeaseSettings): StoreLease {
  return new StoreLease(settings, new DeadStore())
}
