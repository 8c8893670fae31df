import { type LeaseFactory, MemoryLeaseStore, StoreLease } from '@leasehold/core'

/** A store in the thread that says which claims it has granted, by the order in which they came. */
class CountingMemory extends MemoryLeaseStore {
  readonly #granted: Int32Array
  #claims = 0

  constructor(granted: SharedArrayBuffer) {
    super()
    this.#granted = new Int32Array(granted)
  }

  override async acquire(...[request, call]: Parameters<MemoryLeaseStore['acquire']>) {
    const place = this.#claims
    this.#claims += 1
    const outcome = await super.acquire(request, call)
    if (outcome.granted) Atomics.store(this.#granted, place, 1)
    return outcome
  }
}

export const countingLease: LeaseFactory = async (settings, { share }) => {
  const { granted } = settings.options as { readonly granted: SharedArrayBuffer }
  return new StoreLease(settings, await share('counting', () => new CountingMemory(granted)))
}
