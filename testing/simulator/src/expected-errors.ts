import { LeaseError } from '@leasehold/core'

/** Thrown by the work of a run: the run is to reject with it. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
}

/** Simulations expect failures of the store. Any other error is a fault of the library. */
export async function expectLeaseErrors(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isAbort = error instanceof DOMException && error.name === 'AbortError'
    if (!(error instanceof LeaseError) && !(error instanceof WorkError) && !isAbort) throw error
  }
}
