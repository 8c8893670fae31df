import { wallClock } from '../wall-clock.js'
import { type Holding, identityIn, type Layout, type Spec } from './layout.js'
import { isMicroTime, toMicroTime } from './micro-time.js'

/** The duration that client-go records for a released lease, in seconds. */
const RELEASED_SECONDS = 1

/** The API's integers have 32 bits, and the server rejects larger ones: at the maximum, the count stays. */
const MOST_TRANSITIONS = 2 ** 31 - 1

/** A `renewTime` further ahead of our clock is logged, in milliseconds. */
const ODDLY_AHEAD = 86_400_000

/** The `coordination.k8s.io/v1` Lease, as client-go's leader election writes and reads it. */
export const leaseLayout: Layout = {
  resource: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' },
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
    if (!isMicroTime(renewTime) || Date.parse(renewTime) > wallClock() + ODDLY_AHEAD) {
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

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
