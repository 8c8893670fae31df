import { checkIn, type LawOutcome } from './law.js'
import { storeBreakLaws } from './store/break.js'
import { storeChangeLaws } from './store/change.js'
import { storeExclusionLaws } from './store/exclusion.js'
import { storeExpiryLaws } from './store/expiry.js'
import { storeFencingLaws } from './store/fencing.js'
import { storeHistoryLaws } from './store/history.js'
import { storeInfiniteLaws } from './store/infinite.js'
import { storeLimitLaws } from './store/limits.js'
import { storeListingLaws } from './store/listing.js'
import { storeLookLaws } from './store/looks.js'
import { storeMetadataLaws } from './store/metadata.js'
import { storeNameLaws } from './store/names.js'
import { storeRaisingLaws } from './store/raising.js'
import { storeReleaseLaws } from './store/release.js'
import { storeRenewalLaws } from './store/renewal.js'
import { storeShutdownLaws } from './store/shutdown.js'
import { storeWaitingLaws } from './store/waiting.js'
import type { StoreSubject } from './store-subject.js'
import { type StoreLaw, StoreTrial } from './store-trial.js'

/** The conformance suite of stores: the engine, and code that calls a store directly, rely on these rules. */
export const storeLaws: readonly StoreLaw[] = [
  ...storeExclusionLaws,
  ...storeExpiryLaws,
  ...storeLookLaws,
  ...storeRenewalLaws,
  ...storeReleaseLaws,
  ...storeFencingLaws,
  ...storeChangeLaws,
  ...storeBreakLaws,
  ...storeInfiniteLaws,
  ...storeNameLaws,
  ...storeMetadataLaws,
  ...storeRaisingLaws,
  ...storeListingLaws,
  ...storeHistoryLaws,
  ...storeLimitLaws,
  ...storeWaitingLaws,
  ...storeShutdownLaws,
]

/** Checks one law over a backend of its own. Rejects where it is broken. */
export async function checkStoreLaw(law: StoreLaw, subject: StoreSubject): Promise<LawOutcome> {
  return await checkIn(await StoreTrial.begin(subject), law)
}
