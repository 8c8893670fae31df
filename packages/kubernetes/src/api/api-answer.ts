import { parsedJSON } from '@leasehold/core/store-kit'

export interface ApiAnswer {
  readonly status: number
  /** The parsed body; `undefined` if it is not JSON. */
  readonly body: unknown
  /** The body as received. Proxies, and the server for an unknown kind, answer in plain text. */
  readonly text: string
  /** The header `Retry-After`, in milliseconds. */
  readonly retryAfter?: number | undefined
  /** The header `Date`: the clock of the server when it answered, in milliseconds since 1970, of whole seconds. */
  readonly date?: number | undefined
}

/** The stable fields of a `Status` object. The message is for people: it differs between versions. */
export interface ApiStatus {
  readonly reason?: string
  readonly message?: string
  /** In an answer to an expired list: the token that continues it on a newer snapshot. */
  readonly metadata?: { readonly continue?: string }
  readonly details?: {
    readonly kind?: string
    readonly causes?: readonly { readonly field?: string; readonly reason?: string }[]
  }
}

/** The `Status` in a failed answer; `undefined` if the body is something else. */
export function statusOf({ body }: ApiAnswer): ApiStatus | undefined {
  const isStatus = typeof body === 'object' && body !== null && (body as { kind?: unknown }).kind === 'Status'
  return isStatus ? body : undefined
}

export function toAnswer(status: number, headers: NodeJS.Dict<string | string[]>, text: string): ApiAnswer {
  const seconds = Number(headers['retry-after'])
  const retryAfter = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined
  return { status, text, body: parsedJSON(text), retryAfter, date: dateIn(headers.date) }
}

function dateIn(header: string | string[] | undefined): number | undefined {
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
