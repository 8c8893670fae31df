/** How the leases of a store stand in the cluster. */
export type LayoutName = 'lease' | 'akka' | 'pekko'

/** The fields of an object's `spec`, whoever wrote it: nothing is known of their types. */
export type Spec = Readonly<Record<string, unknown>>

/** A kind of object, as the API's addresses and RBAC name it. */
interface ApiResource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
}

/** What a write records of the lease, beside what the annotation keeps. */
export interface Holding {
  /** The identity of the holder; empty: nobody. */
  readonly holder: string
  /** For how long others have to see the record unchanged, in milliseconds. */
  readonly duration: number
  /** The wall clock at the write, in milliseconds. */
  readonly now: number
}

/** A codec of lease records: which object holds one, and which fields of its spec say what. */
export interface Layout {
  readonly resource: ApiResource
  /** The manifest to apply where the server does not know the kind; absent for what every server has. */
  readonly manifest?: string
  /** The identity of the holder; empty: nobody. What is no text is somebody, whom nobody knows. */
  holderOf(spec: Spec): string
  /** The duration that is recorded, in milliseconds; `NaN` where it is none. `noted`: that of our own annotation. */
  durationOf(spec: Spec, noted: number | undefined): number
  /** How often the holder has changed; `undefined` where the layout has no such count, or it is none. */
  transitionsOf(spec: Spec): number | undefined
  /** The spec of a write over `previous`; never the same as it, for a heartbeat must give the object a new version. */
  specOf(previous: Spec | undefined, holding: Holding): Spec
  /** What in the spec no honest writer wrote, for the log. `longest`: what a duration is cut to, in milliseconds. */
  odditiesOf(spec: Spec, longest: number): readonly string[]
}

/** The identity that a field holds. */
export function identityIn(field: unknown): string {
  if (field === undefined || field === null) return ''
  return typeof field === 'string' ? field : `unreadable holder ${JSON.stringify(field)}`
}
