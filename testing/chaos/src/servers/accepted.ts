import { LeaseLostError } from '@leasehold/core'

/** How a guard answers a write: a `LeaseLostError` says that it has seen a larger token. Other errors are passed on. */
export async function accepted(write: Promise<unknown>): Promise<'accepted' | 'refused'> {
  try {
    await write
    return 'accepted'
  } catch (error) {
    if (error instanceof LeaseLostError) return 'refused'
    throw error
  }
}
