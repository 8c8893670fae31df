/** The parts of the SDK's `RestError` that are looked at; by shape, for an application may have a copy of its own. */
interface RestFailure {
  readonly name: 'RestError'
  readonly message: string
  readonly statusCode?: number
  readonly code?: string
  readonly request?: { readonly url: string; readonly headers: HeaderLookup }
  readonly response?: { readonly headers: HeaderLookup }
}

interface HeaderLookup {
  get(name: string): string | undefined
}

/** The failure of a request, as the SDK tells it; `undefined` for any other error. */
export function restFailureOf(error: unknown): RestFailure | undefined {
  return error instanceof Error && error.name === 'RestError' ? (error as unknown as RestFailure) : undefined
}

/** Whether the service refused with this status. */
export function isStatus(error: unknown, status: number): boolean {
  return restFailureOf(error)?.statusCode === status
}

/** Whether the service refused because of the state of the lease, which it names; what else is 409 passes. */
export function isLeaseConflict(error: unknown): boolean {
  return isStatus(error, 409) && codeOf(error)?.startsWith('Lease') === true
}

/** Whether the request was for what has this address, whatever its query asked for. */
export function isAbout(error: unknown, url: string): boolean {
  const { request } = restFailureOf(error) ?? {}
  return request !== undefined && new URL(request.url).pathname === new URL(url).pathname
}

/** The service's own code of a refusal, such as `LeaseAlreadyPresent`; of a request without an answer, the system's. */
export function codeOf(error: unknown): string | undefined {
  const failure = restFailureOf(error)
  // An answer to HEAD has no body to read the code from.
  return failure?.code ?? failure?.response?.headers.get('x-ms-error-code')
}

/** `undefined` where the service says that there is no such thing. */
export async function orMissing<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw error
  }
}

/** Whether the request was let through: not where its lease is not the one in force, or what it is on is gone. */
export async function unlessRefused(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await request()
    return true
  } catch (error) {
    if ([404, 409, 412].some((status) => isStatus(error, status))) return false
    throw error
  }
}

/** Statuses that tell of the moment, or of what others do: the same request may succeed later. */
const passing: ReadonlySet<number> = new Set([404, 408, 409, 412, 429])

/** Whether the service will never take this request: it had no effect, and asking again is of no use. */
export function isRefusal(error: unknown): boolean {
  const status = restFailureOf(error)?.statusCode ?? 0
  return status >= 400 && status < 500 && !passing.has(status)
}
