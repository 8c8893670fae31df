import type { Grant, LeaseRecord } from '@leasehold/core'
import type { RenewOutcome, RenewRefusal } from '@leasehold/core/store'
import type { Found } from './lease-resource.js'
import { codeOf } from './service-answer.js'
import { grantIn, isLocked, toRecord } from './stored-grant.js'

/** `error`: the lease conflict with which the service answered the renewal. */
export function notRenewed(error: unknown, grant: Grant, found: Found | undefined): RenewOutcome {
  return { renewed: false, reason: reasonOf(error, grant, found), ...holderOf(grant.name, found) }
}

export function holderOf(name: string, found: Found | undefined): { holder?: LeaseRecord } {
  if (found === undefined || !isLocked(found.state)) return {}
  const holder = toRecord(name, grantIn(name, found.metadata), found.state)
  return holder === undefined ? {} : { holder }
}

function reasonOf(error: unknown, { name, grantId }: Grant, found: Found | undefined): RenewRefusal {
  if (found === undefined) return 'deleted'
  if (codeOf(error) === 'LeaseIsBrokenAndCannotBeRenewed') return 'broken'
  const stored = grantIn(name, found.metadata)
  return isLocked(found.state) || (stored !== undefined && stored.grantId !== grantId) ? 'taken' : 'expired'
}
