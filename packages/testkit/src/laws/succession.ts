import assert from 'node:assert/strict'
import type { Lease } from '@leasehold/core'

/** The claim of a challenger: when it is granted, the holder must no longer consider itself the holder. */
export function endedBefore<T>(holder: Lease, claim: Promise<T>): Promise<T> {
  const checked = claim.then((outcome) => {
    assert.equal(holder.checkLease(), false, 'granted while the last holder was valid')
    return outcome
  })
  // The law may await it later.
  checked.catch(() => {})
  return checked
}
