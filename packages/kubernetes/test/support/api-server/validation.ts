import { failure, invalid, type Place, type Reply } from './status.js'

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const MICRO_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)[.,](\d{6})(Z|[+-]\d\d:\d\d)$/
const MOST = 2 ** 31 - 1

/** An object as it was sent. */
export interface SentObject {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string }
  readonly spec?: Record<string, unknown> | null
  readonly [field: string]: unknown
}

/** The reason to reject the sent object: 400 for types and times, 422 for values. */
export function refusalOf(place: Place, sent: SentObject): Reply | undefined {
  const { name } = place
  if (name.length > 253 || !SUBDOMAIN.test(name)) {
    return invalid(place, [['metadata.name', `"${name}": a lowercase RFC 1123 subdomain must consist of …`]])
  }
  if (typeof (sent.metadata?.resourceVersion ?? '') !== 'string') return badRequest('resourceVersion is a number')
  if (sent.spec !== undefined && sent.spec !== null && typeof sent.spec !== 'object') return badRequest('spec')
  if (place.kind.group === 'coordination.k8s.io') return refusalOfLease(place, sent.spec ?? {})
  return place.kind.custom ? refusalOfCustom(place, sent.spec ?? {}) : undefined
}

function refusalOfLease(place: Place, spec: Record<string, unknown>): Reply | undefined {
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec
  if (!isAbsent(holderIdentity) && typeof holderIdentity !== 'string') return badRequest('holderIdentity')
  for (const count of [leaseDurationSeconds, leaseTransitions]) {
    if (!isAbsent(count) && !isInt32(count)) return badRequest(`${JSON.stringify(count)} is no int32`)
  }
  for (const field of ['acquireTime', 'renewTime']) {
    const time = spec[field]
    if (!isAbsent(time) && !isMicroTime(time)) return badRequest(`parsing time ${JSON.stringify(time)}`)
  }
  const faults: [string, string][] = []
  if (isInt32(leaseDurationSeconds) && leaseDurationSeconds <= 0) {
    faults.push(['spec.leaseDurationSeconds', `${leaseDurationSeconds}: must be greater than 0`])
  }
  if (isInt32(leaseTransitions) && leaseTransitions < 0) {
    faults.push(['spec.leaseTransitions', `${leaseTransitions}: must be greater than or equal to 0`])
  }
  return faults.length === 0 ? undefined : invalid(place, faults)
}

/** The schema of the manifests: an owner that is a text, a time that is an integer. */
function refusalOfCustom(place: Place, { owner, time }: Record<string, unknown>): Reply | undefined {
  const faults: [string, string][] = []
  if (owner !== undefined && typeof owner !== 'string') faults.push(['spec.owner', 'must be of type string'])
  if (time !== undefined && !Number.isInteger(time)) faults.push(['spec.time', 'must be of type integer'])
  return faults.length === 0 ? undefined : invalid(place, faults)
}

/** The spec of a custom resource without the fields that its schema does not have. */
export function pruned({ kind }: Place, spec: SentObject['spec']): SentObject['spec'] {
  if (!kind.custom || spec === undefined || spec === null) return spec
  return Object.fromEntries(Object.entries(spec).filter(([name]) => name === 'owner' || name === 'time'))
}

function isMicroTime(text: unknown): boolean {
  const [, year, month, day, hour, minute, second] = (typeof text === 'string' && MICRO_TIME.exec(text)) || []
  if (year === undefined) return false
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

function isInt32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MOST
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

function badRequest(message: string): Reply {
  return failure(400, 'BadRequest', message)
}
