import { checkIn, type LawOutcome } from './law.js'
import { storeBreakLaws } from './store/break.js'
import { storeChangeLaws } from './store/change.js'
import { storeExclusionLaws } from './store/exclusion.js'
import { storeExpiryLaws } from './store/expiry.js'
import { storeFencingLaws } from './store/fencing.js'
import { storeInfiniteLaws } from './store/infinite.js'
import { storeLimitLaws } from './store/limits.js'
import { storeListingLaws } from './store/listing.js'
import { storeMetadataLaws } from './store/metadata.js'
import { storeNameLaws } from './store/names.js'
import { storeReleaseLaws } from './store/release.js'
import { storeRenewalLaws } from './store/renewal.js'
import { storeShutdownLaws } from './store/shutdown.js'
import { storeWaitingLaws } from './store/waiting.js'
import type { StoreAbility, StoreSubject } from './store-subject.js'
import { type StoreLaw, StoreTrial } from './store-trial.js'

/** The conformance suite of stores: the engine, and code that calls a store directly, rely on these rules. */
export const storeLaws: readonly StoreLaw[] = [
  ...storeExclusionLaws,
  ...storeExpiryLaws,
  ...storeRenewalLaws,
  ...storeReleaseLaws,
  ...storeFencingLaws,
  ...storeChangeLaws,
  ...storeBreakLaws,
  ...storeInfiniteLaws,
  ...storeNameLaws,
  ...storeMetadataLaws,
  ...storeListingLaws,
  ...storeLimitLaws,
  ...storeWaitingLaws,
  ...storeShutdownLaws,
]

const lacking: Readonly<Record<StoreAbility, string>> = {
  change: 'the store cannot change a lease',
  break: 'the store cannot break a lease',
  watch: 'the store does not wake waiters',
  metadata: 'the records of the store have no room for metadata',
  list: 'the store does not list',
  watchGrant: 'the store does not notify holders of a change by others',
  renewMany: 'the store renews one lease at a time',
  queue: 'the store is not ordered',
  infinite: 'the store has no leases without expiry',
  clients: 'there is one client only',
  deletion: 'the subject cannot delete a record',
  restoration: 'the subject cannot put an older record back',
  restart: 'the subject cannot restart the backend',
  partition: 'the subject cannot cut a client off',
  processes: 'the subject cannot hold a lease in another process',
  'server-time': 'expiry is by observation, not by a clock of the backend',
  'any-name': 'the store does not take every name',
  closing: 'the store has no signal for its closing',
}

/** Checks one law over a backend of its own. Rejects where it is broken. */
export async function checkStoreLaw(law: StoreLaw, subject: StoreSubject): Promise<LawOutcome> {
  return await checkIn(await StoreTrial.begin(subject), law, lacking)
}
