import type { HttpBody } from '@leasehold/core/internal'
import type { UiRequest } from '../lease-ui-options.js'

/** A request, in the form that servers of both kinds have. */
export interface UiCall extends UiRequest {
  /** The path below the page: empty for the page itself. `undefined`: the request is for another path. */
  readonly place: string | undefined
  /** Where the page is, if the request lacks the slash at the end: relative to the request. */
  readonly redirect: string | undefined
  readonly query: URLSearchParams
  body(): HttpBody | undefined
}

/** An answer, for servers of both kinds. */
export interface UiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A function opens a stream of events. */
  readonly body: string | Uint8Array | OpenStream
}

/** Where a stream writes to. */
export interface Outlet {
  /** Returns whether there is room for more. Without room, the outlet asks for more later, by `onRoom` of the stream. */
  write(bytes: Uint8Array): boolean
  end(): void
}

/** A stream, as its outlet sees it. */
export interface OutletReader {
  /** There is room again. */
  onRoom(): void
  /** The reader has gone. */
  onGone(): void
}

/** Begins to write into the outlet. */
export type OpenStream = (outlet: Outlet) => OutletReader
