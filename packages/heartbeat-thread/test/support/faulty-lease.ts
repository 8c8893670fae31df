import { type LeaseFactory, LeaseUnavailableError, MemoryLeaseStore, StoreLease } from '@leasehold/core'

/** A store in the thread that fails, or ends the thread, when a lease of a certain name is acquired. */
class FaultyMemory extends MemoryLeaseStore {
  override async acquire(...[request, call]: Parameters<MemoryLeaseStore['acquire']>) {
    switch (request.name) {
      case 'unavailable':
        throw new LeaseUnavailableError('no store here', { retryAfter: 5, cause: new RangeError('the first cause') })
      case 'throws':
        queueMicrotask(() => {
          throw new TypeError('the thread is ended by this')
        })
        return await new Promise<never>(() => {})
      case 'memory':
        exhaustMemory()
        break
      case 'hangs':
        for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)
    }
    return await super.acquire(request, call)
  }
}

function exhaustMemory(): void {
  const kept: unknown[] = []
  for (;;) kept.push(new Array(10_000).fill(kept.length))
}

export const faultyLease: LeaseFactory = async (settings, { share }) =>
  new StoreLease(settings, await share('faulty', () => new FaultyMemory()))

/** Makes leases of a class of its own. */
class OwnLease extends StoreLease {}

export const ownLease: LeaseFactory = (settings) => new OwnLease(settings, new MemoryLeaseStore())
