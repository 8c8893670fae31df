import { LeaseConflictError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'

/** The keys of maps that a user's process wrote into its record. */
const METADATA = new Set(['metadata', 'previous', 'update'])

/** What JSON has no word for: `Infinity`, a bigint and an error. */
interface Tagged {
  readonly $number?: 'Infinity' | '-Infinity' | 'NaN'
  readonly $bigint?: string
  readonly $error?: RecordedError
}

/** An error, as a recording has it. */
interface RecordedError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  readonly retryAfter?: number | undefined
  readonly cause?: RecordedError | undefined
}

/** The value in a form that JSON can express. Metadata becomes `{}` unless it is asked for. */
export function encode(value: unknown, keepMetadata: boolean): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $number: String(value) }
  if (typeof value === 'bigint') return { $bigint: String(value) }
  if (value instanceof Error) return { $error: errorOf(value) }
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => encode(item, keepMetadata))
  const encoded: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    encoded[key] = METADATA.has(key) && typeof inner === 'object' && !keepMetadata ? {} : encode(inner, keepMetadata)
  }
  return encoded
}

/** The value that was encoded. */
export function decode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(decode)
  const { $number, $bigint, $error } = value as Tagged
  if ($number !== undefined) return Number($number)
  if ($bigint !== undefined) return BigInt($bigint)
  if ($error !== undefined) return revived($error)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, decode(inner)]))
}

/** How many causes of causes are kept. */
const MOST_CAUSES = 4

function errorOf(error: unknown, depth = 0): RecordedError {
  if (!(error instanceof Error)) return { name: 'Error', message: withoutCredentials(String(error)) }
  const { name, cause } = error
  const { code, retryAfter } = error as { readonly code?: unknown; readonly retryAfter?: unknown }
  return {
    name,
    message: withoutCredentials(error.message),
    ...(typeof code === 'string' && { code }),
    ...(typeof retryAfter === 'number' && { retryAfter }),
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: errorOf(cause, depth + 1) }),
  }
}

/** Clients put the URL of their server into messages: without the user and the password there. */
function withoutCredentials(message: string): string {
  return message
    .replaceAll(/\/\/[^\s/@]*@/g, '//***@')
    .replaceAll(/\b(password|passwd|secret|token|sig|authorization)(["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi, '$1$2***')
}

/** An error of the class that the transition function asks for. */
function revived(recorded: RecordedError): Error {
  const { name, message, code, retryAfter } = recorded
  const cause = recorded.cause === undefined ? undefined : revived(recorded.cause)
  const options = cause === undefined ? {} : { cause }
  if (code === 'unavailable' || retryAfter !== undefined) {
    return new LeaseUnavailableError(message, { ...options, ...(retryAfter !== undefined && { retryAfter }) })
  }
  if (code === 'conflict') return new LeaseConflictError(message, options)
  if (code === 'unauthorised') return new LeaseUnauthorisedError(message, options)
  return Object.defineProperties(new Error(message, options), {
    name: { value: name, enumerable: true },
    code: { value: code, enumerable: true },
  })
}

/** Whether this is an error of leases, or one that was revived. */
export function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown }
  return error instanceof LeaseError || typeof code === 'string' ? String(code) : undefined
}
