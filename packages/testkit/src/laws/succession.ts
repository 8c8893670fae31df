import assert from 'node:assert/strict'
import type { Lease } from '@leasehold/core'
import { handled } from './handled.js'
import type { LeaseTrial, OpenOptions, TrialLease } from './lease-trial.js'

/** The claim of a challenger: when it is granted, the holder must no longer consider itself the holder. */
export function endedBefore<T>(holder: Lease, claim: Promise<T>): Promise<T> {
  const checked = claim.then((outcome) => {
    assert.equal(holder.checkLease(), false, 'granted while the last holder was valid')
    return outcome
  })
  return handled(checked)
}

/**
 * A challenger waits for the lease while its holder is cut off. When the challenger is granted the lease, the holder
 * no longer considers itself the holder. `before`: an event of the holder in between.
 */
export async function endsBeforeTheNext(
  trial: LeaseTrial,
  held: TrialLease,
  before = async () => {},
  challenger?: OpenOptions,
): Promise<void> {
  const other = await trial.open(challenger)
  const granted = endedBefore(held.lease, other.acquire({ wait: Number.POSITIVE_INFINITY }))
  await before()
  await held.cutOff()
  // A holder may have a ttl that is twice that of the trial.
  assert.equal(await trial.during(granted, 2 * trial.takeover), true)
}
