import { wallTime } from '@leasehold/core/store-kit'
import type { ApiResource } from '../api/api-request.js'

const DAY = 86_400_000

/** The `spec` of an object. Any program can have written it, with fields of any type. */
export type Spec = Readonly<Record<string, unknown>>

export type LeaseKind = ApiResource & { readonly kind: string }

/** The values of one write. */
export interface Holding {
  /** The identity of the holder; empty if there is none. */
  readonly holder: string
  /** How long challengers have to see the record unchanged, in milliseconds. */
  readonly duration: number
  /** The wall clock at the write, in milliseconds. */
  readonly now: number
}

/** The resource of a lease format, and the meaning of the fields in its spec. */
export interface Layout {
  readonly resource: LeaseKind
  /** Whether the other programs of the format drop all annotations when they write. */
  readonly losesAnnotations: boolean
  /** The field of the spec that every write changes. */
  readonly heartbeatField: string
  /** The identity of the holder; empty if there is none. A value that is not a string counts as an unknown holder. */
  holderOf(spec: Spec): string
  /** The recorded duration in milliseconds; `NaN` if it is invalid. `noted`: the duration in our annotation. */
  durationOf(spec: Spec, noted: number | undefined): number
  /** How often the holder has changed; `undefined` if there is no valid count. */
  transitionsOf(spec: Spec): number | undefined
  /** The spec of a write over `previous`. It always differs from it, so that a heartbeat gives the object a new version. */
  specOf(previous: Spec | undefined, holding: Holding): Spec
  /** Implausible values in the spec, for the log. `longest`: the longest plausible duration, in milliseconds. */
  odditiesOf(spec: Spec, longest: number): readonly string[]
}

export function identityIn(field: unknown): string {
  if (field === undefined || field === null) return ''
  return typeof field === 'string' ? field : `unreadable holder ${JSON.stringify(field)}`
}

/** Whether a time in a record, in milliseconds since 1970, is more than a day ahead of our clock. */
export function isOddlyLate(time: number): boolean {
  return time > wallTime() + DAY
}
