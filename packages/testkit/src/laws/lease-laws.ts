import { checkIn, type LawOutcome } from './law.js'
import { leaseByHandLaws } from './lease/by-hand.js'
import { leaseClockLaws } from './lease/clocks.js'
import { leaseExclusionLaws } from './lease/exclusion.js'
import { leaseHandOverLaws } from './lease/hand-over.js'
import { leaseLossLaws } from './lease/loss.js'
import { leaseParentLaws } from './lease/parents.js'
import { leasePreemptionLaws } from './lease/preemption.js'
import { leaseReleaseLaws } from './lease/release.js'
import { leaseRenewalLaws } from './lease/renewal.js'
import { leaseRunLaws } from './lease/runs.js'
import { leaseShutdownLaws } from './lease/shutdown.js'
import { leaseValidityLaws } from './lease/validity.js'
import { leaseWaitingLaws } from './lease/waiting.js'
import type { LeaseSubject } from './lease-subject.js'
import { type LeaseLaw, LeaseTrial } from './lease-trial.js'

/** The conformance suite of leases: the contract of `Lease`, and the further guarantees of leases over a store. */
export const leaseLaws: readonly LeaseLaw[] = [
  ...leaseExclusionLaws,
  ...leaseWaitingLaws,
  ...leaseRenewalLaws,
  ...leaseByHandLaws,
  ...leaseValidityLaws,
  ...leaseLossLaws,
  ...leasePreemptionLaws,
  ...leaseReleaseLaws,
  ...leaseParentLaws,
  ...leaseRunLaws,
  ...leaseHandOverLaws,
  ...leaseShutdownLaws,
  ...leaseClockLaws,
]

/** Checks one law over a backend of its own. Rejects where it is broken. */
export async function checkLeaseLaw(law: LeaseLaw, subject: LeaseSubject): Promise<LawOutcome> {
  return await checkIn(await LeaseTrial.begin(subject), law)
}
