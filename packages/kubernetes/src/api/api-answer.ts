/** What the API server answered. */
export interface ApiAnswer {
  readonly status: number
  /** The parsed body of an answer in JSON; `undefined` of any other. */
  readonly body: unknown
  /** The body as it came: in front of the server, and for a kind that it does not know, it is plain text. */
  readonly text: string
  /** Of the header `Retry-After`, in milliseconds. */
  readonly retryAfter?: number
}

/** A `Status` object, as far as one can rely on it. Its message is for people: it differs between versions. */
export interface ApiStatus {
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    readonly kind?: string
    readonly causes?: readonly { readonly field?: string; readonly reason?: string }[]
  }
}

/** The `Status` of an answer that is a failure; `undefined` where the body is something else. */
export function statusOf({ body }: ApiAnswer): ApiStatus | undefined {
  const isStatus = typeof body === 'object' && body !== null && (body as { kind?: unknown }).kind === 'Status'
  return isStatus ? body : undefined
}

export function toAnswer(status: number, headers: NodeJS.Dict<string | string[]>, text: string): ApiAnswer {
  const seconds = Number(headers['retry-after'])
  return {
    status,
    text,
    body: parse(text),
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfter: seconds * 1_000 } : {}),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
