/**
 * The messages between the server and the page. Instants are in milliseconds since 1970, durations in milliseconds. `null`
 * stands for a duration without an end. The page imports only types from here.
 *
 * All paths are relative to the page:
 *
 * | request | answer |
 * |---|---|
 * | `GET api/events` | `text/event-stream`: `ServerEvents`, the name of each event is its key. With `?watch=NAME`, changes of that lease come at once |
 * | `GET api/lease?name=NAME` | `LeaseDetail` |
 * | `POST api/history` with `HistoryRequest` | `HistoryAnswer` |
 * | `POST api/break` with `BreakRequest` | `{}` |
 * | `POST api/schedule` with `ScheduleRequest` | `{}` |
 *
 * A refused request has the body `{ "error": ErrorBody }`, and a status of 400 or more: 401 without a valid token, 403 where only
 * reading is allowed or the request comes from another site, 404, 409 where the lease has changed meanwhile, 503 where there are
 * too many streams or the store cannot be reached.
 *
 * Each request has the header `authorization: Bearer TOKEN` where the page has a token. A change also has the header
 * `x-leasehold-change` with the `changeToken` of `Hello`, which no other site can read.
 */

/** The state of a name in the store, as `LeaseState` of core. */
export type RowState = 'leased' | 'expired' | 'breaking' | 'broken' | 'available'

/** The recipe that a row belongs to: its kind, and its name, such as `reports` for `reports/candidates/3`. */
export interface RowRecipe {
  readonly kind: string
  readonly name: string
}

/** One lease in the list. */
export interface LeaseRow {
  readonly name: string
  readonly state: RowState
  /** Empty if nobody holds it, or the store does not know who. */
  readonly owner: string
  /** The fencing token: digits. */
  readonly token: string
  readonly ttl?: number | null
  /** The time left when this was sent. */
  readonly remaining?: number | null
  /** When the grant began: by the clock of the store, or when the server first saw it. */
  readonly since?: number
  /** Whether `since` is only when the server first saw the grant. */
  readonly isSeen?: true
  readonly renewals?: number
  readonly waiters?: number
  readonly recipe?: RowRecipe
}

export interface Hello {
  /** The version of the package: a page of another one reloads itself. */
  readonly version: string
  readonly title: string
  /** The kind of the store, such as `redis`. */
  readonly store: string
  readonly prefix: string
  readonly access: 'read' | 'write'
  /** The name of the reader, where the host knows it. */
  readonly user?: string
  /** For the header `x-leasehold-change`. Only with the access `write`. */
  readonly changeToken?: string
  /** Whether the store can break leases. */
  readonly canBreak: boolean
  /** How often the store is listed. */
  readonly interval: number
  readonly historyFor: number
  /** Since when the server has looked at the store: the timeline does not go back further. */
  readonly observedSince: number
}

/** The whole list, in parts. The rows that the page had before are replaced with the first one. */
export interface ListPart {
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly rows: readonly LeaseRow[]
}

/** The changes of the list. */
export interface ListChanges {
  /** The new state of rows, also of new ones. */
  readonly rows?: readonly LeaseRow[]
  /** The names that are not in the store any more. */
  readonly gone?: readonly string[]
  /** Heartbeats: names with the time that is left. */
  readonly renewed?: readonly (readonly [name: string, remaining: number])[]
}

/** Comes at least once in each interval, also if nothing has changed. A page that hears none for three shows that it is stale. */
export interface Freshness {
  /** How old the list is. */
  readonly age: number
  /** Why the store was not read the last time. Then the list is stale. */
  readonly error?: ErrorBody
}

/** Something that must not be. */
export interface UiFinding {
  /** Stays the same while the finding lasts. */
  readonly id: string
  readonly kind: 'two-holders' | 'token-shrank' | 'unfit-store'
  readonly leaseName?: string
  /** When it was last seen. */
  readonly at: number
  /** Sentences for the reader, in plain English. */
  readonly message: string
}

export interface ElectionView {
  readonly name: string
  readonly leader?: string
  readonly term?: string
  readonly since?: number
  readonly waiters?: number
  /** Candidates that have advertised themselves: the best first. */
  readonly candidates: readonly { readonly owner: string; readonly rank: number; readonly isReady: boolean }[]
}

export interface RunView {
  readonly due: number
  readonly owner: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly outcome: 'running' | 'done' | 'failed' | 'timed-out' | 'interrupted'
  readonly error?: string
  /** The person or process that asked for it by hand. */
  readonly byHand?: string
}

export interface ScheduleView {
  readonly name: string
  /** The timetable, such as `0 3 * * *`. */
  readonly plan?: string
  readonly next?: number
  readonly running?: RunView
  /** The runs that have ended, the last first: at most ten, those that the server has seen. */
  readonly runs: readonly RunView[]
  readonly paused?: { readonly by: string; readonly at: number; readonly reason: string; readonly until?: number }
  readonly skipped: readonly number[]
  readonly requested: readonly { readonly by: string; readonly at: number }[]
}

export interface SemaphoreView {
  readonly name: string
  readonly kind: 'semaphore' | 'read-write-lease'
  /** How many permits, or readers, there are. */
  readonly permits: number
  readonly inUse: readonly {
    readonly slot: number
    readonly owner: string
    readonly token: string
    readonly since?: number
  }[]
  readonly waiters?: number
  /** The writer of a read-write lease. */
  readonly writer?: string
}

export interface GroupView {
  readonly name: string
  readonly partitions: number
  readonly members: readonly {
    readonly owner: string
    readonly held: readonly number[]
    readonly draining: readonly number[]
    readonly claimed: readonly number[]
    readonly isLeaving: boolean
    readonly metadata: Readonly<Record<string, string>>
  }[]
}

/** All that is recognised by its records. */
export interface RecipeViews {
  readonly elections: readonly ElectionView[]
  readonly schedules: readonly ScheduleView[]
  readonly semaphores: readonly SemaphoreView[]
  readonly groups: readonly GroupView[]
}

/** The events of the stream. */
export interface ServerEvents {
  readonly hello: Hello
  readonly list: ListPart
  readonly changes: ListChanges
  readonly freshness: Freshness
  /** All findings that last, whenever they change. */
  readonly findings: readonly UiFinding[]
  /** Each kind that has changed, whole. */
  readonly recipes: Partial<RecipeViews>
}

/** How a grant ended, as far as the server saw. `unknown`: it was gone when the server looked again. */
export type SpanEnd = 'released' | 'expired' | 'broken' | 'handed-off' | 'unknown'

/** One holder on the timeline. */
export interface HistorySpan {
  readonly from: number
  /** Absent while it lasts. */
  readonly to?: number
  readonly owner: string
  readonly token: string
  readonly end?: SpanEnd
}

export interface HistoryRequest {
  /** At most 500. */
  readonly names: readonly string[]
  readonly from: number
  readonly to: number
}

export interface HistoryAnswer {
  readonly observedSince: number
  /** When the server could not look: what happened then is not known. */
  readonly blind: readonly { readonly from: number; readonly to?: number }[]
  /** The oldest spans of this name were forgotten, because there were too many. */
  readonly isCut: readonly string[]
  /** In the order of their time. */
  readonly spans: Readonly<Record<string, readonly HistorySpan[]>>
}

/** One lease, read now. */
export interface LeaseDetail {
  readonly row: LeaseRow
  readonly metadata: Readonly<Record<string, string>>
  /** The metadata that the holder found in the record. */
  readonly previous?: Readonly<Record<string, string>>
  readonly duration?: 'fixed' | 'infinite'
  /** Why it was broken. */
  readonly breakReason?: string
  /** Others that belong to it, such as the candidates of an election: their names. */
  readonly related: readonly string[]
}

export interface BreakRequest {
  readonly name: string
  /** The token that the reader saw: if there is another holder by now, nothing is broken, and the status is 409. */
  readonly token: string
  /** After this time the name is free; at the end of its ttl, at the latest. */
  readonly period: number
  /** 1 to 500 characters. */
  readonly reason: string
}

export type ScheduleRequest =
  | { readonly name: string; readonly action: 'pause'; readonly reason: string; readonly until?: number }
  | { readonly name: string; readonly action: 'resume' | 'run-now' }
  | { readonly name: string; readonly action: 'skip'; readonly tick: number }

export interface ErrorBody {
  /** The code of the `LeaseError`, or `access`, `not-found`, `busy`, `changed`. */
  readonly code: string
  /** A sentence for the reader that says what to do. */
  readonly message: string
}
