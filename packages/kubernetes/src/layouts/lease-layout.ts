import { isCount } from '@leasehold/core/internal'
import { type Holding, identityIn, isOddlyLate, type Layout, type Spec } from './layout.js'

/** The duration that client-go records for a released lease, in seconds. */
const RELEASED_SECONDS = 1

/** The API's integers have 32 bits, and the server rejects larger ones: at the maximum, the count stays. */
const MOST_TRANSITIONS = 2 ** 31 - 1

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** The `coordination.k8s.io/v1` Lease, as client-go's leader election writes and reads it. */
export const leaseLayout: Layout = {
  resource: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' },
  losesAnnotations: false,
  heartbeatField: 'renewTime',
  holderOf: (spec) => identityIn(spec.holderIdentity),
  durationOf: ({ leaseDurationSeconds }, noted) => {
    // The field has whole seconds, the annotation the exact duration. An edited field takes precedence.
    if (noted !== undefined && toSeconds(noted) === leaseDurationSeconds) return noted
    return isCount(leaseDurationSeconds) ? leaseDurationSeconds * 1_000 : Number.NaN
  },
  transitionsOf: ({ leaseTransitions }) => (isCount(leaseTransitions) ? leaseTransitions : undefined),
  specOf,
  odditiesOf: (spec, longest) => {
    const { leaseDurationSeconds: seconds, renewTime } = spec
    const odd: string[] = []
    if (!isCount(seconds) || seconds <= 0 || seconds * 1_000 > longest) {
      odd.push(`leaseDurationSeconds is ${JSON.stringify(seconds)}`)
    }
    if (!isMicroTime(renewTime) || isOddlyLate(Date.parse(renewTime))) {
      odd.push(`renewTime is ${JSON.stringify(renewTime)}`)
    }
    return odd
  },
}

function specOf(previous: Spec = {}, { holder, duration, now }: Holding): Spec {
  const before = identityIn(previous.holderIdentity)
  const isReleased = holder === ''
  const isGrant = !isReleased && holder !== before
  const renewTime = timeAfter(previous.renewTime, now)
  return {
    ...previous,
    holderIdentity: holder,
    leaseDurationSeconds: isReleased ? RELEASED_SECONDS : toSeconds(duration),
    acquireTime: isGrant || isReleased || !isMicroTime(previous.acquireTime) ? renewTime : previous.acquireTime,
    renewTime,
    leaseTransitions: transitionsAfter(previous.leaseTransitions, isGrant),
  }
}

/** Rounded up, so that a challenger that reads only whole seconds does not take over too early. */
function toSeconds(duration: number): number {
  return Math.max(Math.ceil(duration / 1_000), 1)
}

/** Always differs from the previous time: the server keeps the version of an unchanged object. */
function timeAfter(previous: unknown, now: number): string {
  const time = toMicroTime(now * 1_000)
  return time === previous ? toMicroTime(now * 1_000 + 1) : time
}

/** The first holder of a new object counts as no transition. */
function transitionsAfter(previous: unknown, isGrant: boolean): number {
  if (!isCount(previous)) return 0
  return isGrant ? Math.min(previous + 1, MOST_TRANSITIONS) : previous
}

/**
 * The `MicroTime` of the Kubernetes API. The server rejects an object whose times do not have exactly six fractional
 * digits. `micros`: microseconds since 1970.
 */
export function toMicroTime(micros: number): string {
  const [millis, rest] = [Math.floor(micros / 1_000), micros % 1_000]
  return new Date(millis).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** Whether a value has the format in which the server returns times. */
export function isMicroTime(text: unknown): text is string {
  return typeof text === 'string' && MICRO_TIME.test(text) && !Number.isNaN(Date.parse(text))
}
