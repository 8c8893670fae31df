import { type LeaseSettings, LeaseUnavailableError, MemoryLeaseStore, StoreLease } from '@leasehold/core'

/** Its error has a text of another user, with control characters. */
class HostileStore extends MemoryLeaseStore {
  override async read(): Promise<never> {
    throw new LeaseUnavailableError('held by \u001b[31m\r\u009b\u202e\nleasehold: all is well')
  }
}

export function hostileLease(settings: LeaseSettings): StoreLease {
  return new StoreLease(settings, new HostileStore())
}
