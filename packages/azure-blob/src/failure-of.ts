import {
  LeaseConfigurationError,
  LeaseError,
  type LeaseErrorDetails,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { codeOf, isRefusal, restFailureOf } from './service-answer.js'

/** By how much the clocks may differ before the service refuses what a client has signed, in milliseconds. */
const SIGNATURE_AGE = 15 * 60_000

/** The errors of `@azure/identity`, where nobody could be asked, or nobody would give a token. */
const credentialFailures: ReadonlySet<string> = new Set([
  'CredentialUnavailableError',
  'AuthenticationError',
  'AggregateAuthenticationError',
  'AuthenticationRequiredError',
])

/** What may stand beside a failure for whoever reads it. */
export interface RequestDetails {
  readonly operation: string
  readonly leaseName: string
  readonly store: string
}

/** The typed error for whatever a request failed with. It has nothing of the request in it: there are secrets there. */
export function failureOf({ operation, leaseName, store }: RequestDetails, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  const details = { leaseName, store, cause: withoutRequest(error) }
  const failed = `${operation} of lease '${leaseName}' failed: ${reasonOf(error)}`
  if (error instanceof Error && error.name === 'AbortError') return new LeaseTimeoutError(failed, details)
  if (error instanceof Error && credentialFailures.has(error.name)) {
    return new LeaseUnauthorisedError(`${failed}: the credential gave no token`, details)
  }
  switch (restFailureOf(error)?.statusCode) {
    case 401:
    case 403:
      return unauthorised(failed, error, details)
    case 404:
      return new LeaseConfigurationError(`${failed}: make it, or let the store make what is missing`, details)
    default:
      if (isRefusal(error)) return new LeaseConfigurationError(failed, details)
      return new LeaseUnavailableError(failed, { ...details, retryAfter: retryAfterOf(error) })
  }
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
    : "this identity needs the role 'Storage Blob Data Contributor' on the container, and the account has to let this network in"
  return new LeaseUnauthorisedError(`${failed}: ${advice}`, details)
}

/** For how long the service asks to be left alone, in milliseconds. */
function retryAfterOf(error: unknown): number | undefined {
  const seconds = Number(restFailureOf(error)?.response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : seconds * 1_000
}

/** How far this machine's clock was ahead of the service's, in milliseconds, by the times that the two put down. */
function clockOffsetOf(error: unknown): number {
  const failure = restFailureOf(error)
  const sent = Date.parse(failure?.request?.headers.get('x-ms-date') ?? '')
  const answered = Date.parse(failure?.response?.headers.get('date') ?? '')
  return Number.isNaN(sent - answered) ? 0 : sent - answered
}

/** The first line: the others repeat ids and times. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [line = ''] = message.split('\n')
  const code = codeOf(error)
  const reason = line === '' || line === '{}' ? `the service answered ${restFailureOf(error)?.statusCode}` : line
  return redact(code === undefined || reason.includes(code) ? reason : `${reason} (${code})`)
}

/** What is left to look into: the kind of failure, without the request and its headers. */
function withoutRequest(error: unknown): Error {
  const cause: Error & { code?: string | undefined; statusCode?: number | undefined } = new Error(reasonOf(error))
  cause.name = error instanceof Error ? error.name : 'Error'
  cause.code = codeOf(error)
  cause.statusCode = restFailureOf(error)?.statusCode
  return cause
}

/** Addresses may have a signature in them. */
function redact(text: string): string {
  return text.replaceAll(/\b(sig|AccountKey|SharedAccessSignature)=[^&;\s]*/gi, '$1=…')
}
