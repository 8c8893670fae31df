import { LeaseLostError } from '@leasehold/core'

/** The outcome of a write with a guard. Rejects where it is unknown. */
export async function guardedWrite(write: Promise<unknown>): Promise<'accepted' | 'refused'> {
  try {
    await write
    return 'accepted'
  } catch (error) {
    if (error instanceof LeaseLostError) return 'refused'
    throw error
  }
}
