import {
  LeaseConfigurationError,
  LeaseError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { CLIENT_REQUEST_ID } from './client-request-ids.js'
import { codeOf, isRefusal, restFailureOf } from './service-answer.js'

/** The smallest difference between the clocks for which the service rejects signatures, in milliseconds. */
const SIGNATURE_AGE = 15 * 60_000

/** The errors of `@azure/identity` when a credential gives no token. */
const credentialFailures: ReadonlySet<string> = new Set([
  'CredentialUnavailableError',
  'AuthenticationError',
  'AggregateAuthenticationError',
  'AuthenticationRequiredError',
])

/**
 * The typed error for the failure of a request. It has no part of the request, which contains secrets. `leaseName` is absent
 * for a listing.
 */
export function failureOf(operation: string, leaseName: string | undefined, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  const details = {
    ...(leaseName === undefined ? {} : { leaseName }),
    store: 'azure-blob',
    cause: withoutRequest(error),
  }
  const subject = leaseName === undefined ? 'leases' : `lease '${leaseName}'`
  const failed = `${operation} of ${subject} failed: ${reasonOf(error)}${idsIn(error)}`
  if (error instanceof Error && error.name === 'AbortError') return new LeaseTimeoutError(failed, details)
  if (error instanceof Error && credentialFailures.has(error.name)) {
    return new LeaseUnauthorisedError(`${failed}: the credential gave no token`, details)
  }
  switch (restFailureOf(error)?.statusCode) {
    case 401:
    case 403:
      return unauthorised(failed, error, details)
    case 404:
      return new LeaseConfigurationError(`${failed}: create it, or turn 'create' on`, details)
    default:
      if (isRefusal(error)) return new LeaseConfigurationError(failed, details)
      return new LeaseUnavailableError(failed, { ...details, retryAfter: retryAfterOf(error) })
  }
}

/** The error for a blob or a container that the store may not create. */
export function createIsOff(kind: 'blob' | 'container', leaseName: string): LeaseConfigurationError {
  return new LeaseConfigurationError(
    `the ${kind} of lease '${leaseName}' does not exist, and 'create' is off: create it, or turn 'create' on`,
    { leaseName, store: 'azure-blob' },
  )
}

function unauthorised(failed: string, error: unknown, details: LeaseErrorDetails): LeaseUnauthorisedError {
  const offset = clockOffsetOf(error)
  if (Math.abs(offset) >= SIGNATURE_AGE) {
    const minutes = Math.round(Math.abs(offset) / 60_000)
    const side = offset > 0 ? 'ahead of' : 'behind'
    return new LeaseUnauthorisedError(
      `${failed}: the clock of this machine is ${minutes} minutes ${side} the service's: set it`,
      details,
    )
  }
  const advice = codeOf(error)?.startsWith('Authentication')
    ? 'check the key, the SAS token or the credential, and the clock of this machine'
    : "this identity needs the role 'Storage Blob Data Contributor' on the container, and the account has to permit this network"
  return new LeaseUnauthorisedError(`${failed}: ${advice}`, details)
}

/** The pause that the service asks for, in milliseconds. */
function retryAfterOf(error: unknown): number | undefined {
  const seconds = Number(restFailureOf(error)?.response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : seconds * 1_000
}

/** How far this machine's clock was ahead of the service's, by the dates in request and answer, in milliseconds. */
function clockOffsetOf(error: unknown): number {
  const failure = restFailureOf(error)
  const sent = Date.parse(failure?.request?.headers.get('x-ms-date') ?? '')
  const answered = Date.parse(failure?.response?.headers.get('date') ?? '')
  return Number.isNaN(sent - answered) ? 0 : sent - answered
}

/** The first line of the message; the other lines repeat ids and times. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [line = ''] = message.split('\n')
  const code = codeOf(error)
  const reason = line === '' || line === '{}' ? `the service answered ${restFailureOf(error)?.statusCode}` : line
  return redact(code === undefined || reason.includes(code) ? reason : `${reason} (${code})`)
}

/** The cause without the request and its headers. */
function withoutRequest(error: unknown): Error {
  return Object.assign(new Error(reasonOf(error)), {
    name: error instanceof Error ? error.name : 'Error',
    code: codeOf(error),
    statusCode: restFailureOf(error)?.statusCode,
    requestId: requestIdOf(error),
    clientRequestId: clientRequestIdOf(error),
  })
}

/** The ids of the request, for the end of a message. */
function idsIn(error: unknown): string {
  const ids = { 'x-ms-request-id': requestIdOf(error), [CLIENT_REQUEST_ID]: clientRequestIdOf(error) }
  const given = Object.entries(ids).filter(([, id]) => id !== undefined)
  return given.length === 0 ? '' : ` [${given.map((entry) => entry.join(' ')).join(', ')}]`
}

/** The id under which the support of the service finds the request. */
function requestIdOf(error: unknown): string | undefined {
  return restFailureOf(error)?.response?.headers.get('x-ms-request-id')
}

/** The id under which the logs of the service have the request. It is known even if no answer came. */
function clientRequestIdOf(error: unknown): string | undefined {
  return restFailureOf(error)?.request?.headers.get(CLIENT_REQUEST_ID)
}

/** Removes keys and signatures from a text. Addresses can contain a signature. */
function redact(text: string): string {
  return text.replaceAll(/\b(sig|AccountKey|SharedAccessSignature)=[^&;\s]*/gi, '$1=…')
}
