import type { ContainerClient } from '@azure/storage-blob'

/** The fields of the SDK's `RestError` in use. Checked by shape: an application can have another copy of the SDK. */
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

/** A renewal that the service has confirmed. */
export interface ServiceRenewal {
  /** When it was sent, on the local clock. */
  readonly sentAt: number
  /** That of the blob or container: a renewal does not change it. */
  readonly etag: string | undefined
}

/** The failure of a request; `undefined` for any other error. */
export function restFailureOf(error: unknown): RestFailure | undefined {
  return error instanceof Error && error.name === 'RestError' ? (error as unknown as RestFailure) : undefined
}

/** Whether the service answered with this status. */
export function isStatus(error: unknown, status: number): boolean {
  return restFailureOf(error)?.statusCode === status
}

/** Whether the request had no effect because its conditions were not met any more. */
export function isUnmet(error: unknown, { conditions }: { readonly conditions?: unknown }): boolean {
  return conditions !== undefined && isStatus(error, 412)
}

/** Whether the service refused because of the state of the lease. Other conflicts are temporary. */
export function isLeaseConflict(error: unknown): boolean {
  return isStatus(error, 409) && codeOf(error)?.startsWith('Lease') === true
}

/** Whether the request was for this address, with any query. */
export function isAbout(error: unknown, url: string): boolean {
  const { request } = restFailureOf(error) ?? {}
  return request !== undefined && new URL(request.url).pathname === new URL(url).pathname
}

/** The code of the service, such as `LeaseAlreadyPresent`, or the code of the system if there was no answer. */
export function codeOf(error: unknown): string | undefined {
  const failure = restFailureOf(error)
  // An answer to HEAD has no body with the code.
  return failure?.code ?? failure?.response?.headers.get('x-ms-error-code')
}

/** Sends a request. Resolves with `undefined` if the service answers with one of these statuses. */
export async function unless<T>(statuses: readonly number[], request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (statuses.some((status) => isStatus(error, status))) return undefined
    throw error
  }
}

/**
 * Sends a request that creates a blob or a container. Resolves with `undefined` if another process has created it, or if
 * the container of the blob was missing: this function has then created the container.
 */
export async function createOnce<T>(
  container: ContainerClient,
  abortSignal: AbortSignal,
  create: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await create()
  } catch (error) {
    const code = codeOf(error)
    if (code === 'BlobAlreadyExists' || code === 'ContainerAlreadyExists') return undefined
    if (code !== 'ContainerNotFound') throw error
    await container.createIfNotExists({ abortSignal })
    return undefined
  }
}

/** Statuses after which the same request can succeed later. */
const temporary: ReadonlySet<number> = new Set([404, 408, 409, 412, 429])

/** Whether the service will always reject this request. It had no effect. */
export function isRefusal(error: unknown): boolean {
  const status = restFailureOf(error)?.statusCode ?? 0
  return status >= 400 && status < 500 && !temporary.has(status)
}
