import { type LeaseSettings, MemoryLeaseStore, StoreLease } from '@leasehold/core'
import type { MemoryAcquireRequest } from '@leasehold/core/life-cycle'

/** Grants a lease to everybody who asks, whether it is held or not. */
class GenerousStore extends MemoryLeaseStore {
  override async acquire(request: MemoryAcquireRequest) {
    const outcome = await super.acquire(request)
    if (outcome.granted) return outcome
    await this.break(request.name, { period: 0 })
    return await super.acquire(request)
  }
}

export function generousLease(settings: LeaseSettings): StoreLease {
  return new StoreLease(settings, new GenerousStore())
}
