import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseError } from '../errors/lease-error.js'
import { reasonOf, shownText, shownValue } from '../errors/shown-value.js'
import type { PreemptOptions } from '../lease/acquire-options.js'
import type { SharedCallers } from '../lease/shared-callers.js'
import { type LeaseRecord, withJSON } from '../store/lease-record.js'
import { readGuarded } from '../user-code/guarded-calls.js'
import type { AcquireCaller } from './acquire-caller.js'
import { detailsOf } from './failures.js'
import type { LeaseRules } from './lease-rules.js'

/**
 * The longest notice, in milliseconds, of the callers that want the grant of this holder broken; `undefined` if none does.
 * Each caller is asked once for each grant of a holder. `onFailed` is called for a caller that cannot be served.
 */
export function askedNotice(
  callers: SharedCallers<AcquireCaller>,
  holder: LeaseRecord,
  rules: LeaseRules,
  onFailed: (caller: AcquireCaller, error: LeaseError) => void,
): number | undefined {
  // A lease that is broken already only has to be waited for. A break without a grant id could hit a later grant.
  if (holder.state !== 'leased' || holder.grantId === '') return undefined
  let notice: number | undefined
  for (const caller of callers.all) {
    const { preempt } = caller.options
    if (preempt === undefined || !caller.waits) continue
    if (caller.judged?.grantId !== holder.grantId) {
      const breaks = judge(preempt, holder, rules)
      caller.judged = { grantId: holder.grantId, breaks: breaks === true }
      if (typeof breaks !== 'boolean') onFailed(caller, breaks)
    }
    if (caller.judged.breaks) notice = Math.max(notice ?? 0, preempt.period)
  }
  return notice
}

/** Whether the caller wants the grant of this holder broken; or the error with which its claim is rejected. */
function judge({ when }: PreemptOptions, holder: LeaseRecord, rules: LeaseRules): boolean | LeaseError {
  let cause: unknown
  const answer = readGuarded(
    () => when(withJSON(holder)),
    (error) => {
      cause = error
    },
  )
  if (cause !== undefined) {
    const message = `preempt.when() failed for lease '${rules.name}': ${reasonOf(cause)}`
    return new LeaseConfigurationError(message, { ...detailsOf(rules), cause })
  }
  if (typeof answer !== 'boolean') {
    const message = `preempt.when() must return true or false at once, not ${shownValue(answer)}`
    return new LeaseConfigurationError(message, detailsOf(rules))
  }
  return answer && !canEnd(holder) ? withoutEnd(holder, rules) : answer
}

/** Whether a holder that hears nothing stops by itself: its ttl is known, and finite. */
function canEnd({ ttl = Number.POSITIVE_INFINITY, remaining }: LeaseRecord): boolean {
  return ttl < Number.POSITIVE_INFINITY && remaining !== Number.POSITIVE_INFINITY
}

function withoutEnd({ owner }: LeaseRecord, rules: LeaseRules): LeaseConflictError {
  return new LeaseConflictError(
    `lease '${rules.name}' of '${shownText(owner)}' does not expire: a holder that does not hear of the break would go on. Stop the ` +
      'holder, then call breakLease',
    detailsOf(rules),
  )
}
