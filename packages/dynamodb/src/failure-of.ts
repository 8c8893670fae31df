import {
  LeaseConfigurationError,
  LeaseError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { isUnconnected, networkMessage } from '@leasehold/core/store-kit'
import { createCommand, keyAdvice, policyFor, type TableName } from './table-advice.js'

/** The fields of the SDK's errors in use. Checked by shape: an application can have another copy of the SDK. */
interface ServiceFailure {
  readonly name: string
  readonly message: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** More requests than the table, the partition or the account may have. Nothing was written. */
const throttled: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

/** The errors of a credential, or of the client's search for one. */
const unauthenticated: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'MissingAuthenticationTokenException',
  'MissingAuthenticationToken',
])

/** Whether the service answered with this error. */
export function isNamed(error: unknown, name: string): error is ServiceFailure {
  return error instanceof Error && error.name === name
}

/** Whether the table does not exist. */
export function isWithoutTable(error: unknown): boolean {
  return error instanceof Error && /^(?:ResourceNotFound|TableNotFound)(?:Exception)?$/.test(error.name)
}

/**
 * The typed error for the failure of a request. `leaseName` is absent if the request was for no lease.
 */
export function failureOf(
  operation: string,
  leaseName: string | undefined,
  error: unknown,
  table: TableName,
): LeaseError {
  if (error instanceof LeaseError) return error
  const failure = (error instanceof Error ? error : new Error(String(error))) as Error & Omit<ServiceFailure, 'name'>
  const details = {
    store: 'dynamodb',
    cause: withoutRequest(failure),
    ...(leaseName === undefined ? {} : { leaseName }),
  }
  const { name } = failure
  const failed = `${operation} failed: ${said(failure)}`
  if (isWithoutTable(error)) {
    return new LeaseConfigurationError(
      `${failed}: there is no table '${table.table}' in this region and account. Check the region, or create the table: ` +
        `${createCommand(table)} (or give the option create: true)`,
      details,
    )
  }
  // The SDK gives this name to broken connections too; those have a code.
  const isLate = name === 'TimeoutError' && (failure as { readonly code?: string }).code === undefined
  if (name === 'AbortError' || isLate) return new LeaseTimeoutError(failed, details)
  if (throttled.has(name)) {
    const advice = `Nothing was written. It is repeated later; if it stays so, raise the capacity of table '${table.table}'`
    return new LeaseUnavailableError(`${failed}. ${advice}`, { ...details, retryAfter: retryAfterOf(failure) })
  }
  const access = accessAdvice(name, table)
  if (access !== undefined) return new LeaseUnauthorisedError(`${failed}: ${access}`, details)
  if (name === 'ValidationException' && /schema|key/i.test(failure.message)) {
    return new LeaseConfigurationError(`${failed}: ${keyAdvice(table)}`, details)
  }
  if (refusals.has(name)) return new LeaseConfigurationError(failed, details)
  if (/region is missing/i.test(failure.message)) {
    return new LeaseConfigurationError(`${failed}: set AWS_REGION, or give the client a region`, details)
  }
  const advice = isUnconnected(error)
    ? 'The service cannot be reached: check the endpoint and the region of the client'
    : 'The request may have been applied: try again'
  return new LeaseUnavailableError(`${failed}. ${advice}`, { ...details, retryAfter: retryAfterOf(failure) })
}

/** What to do about a refusal of the identity; `undefined` if the error is another one. */
function accessAdvice(name: string, table: TableName): string | undefined {
  if (name === 'AccessDeniedException') return `the identity needs this statement in its policy: ${policyFor(table)}`
  if (/^ExpiredToken/.test(name) || name === 'RequestExpired') {
    return (
      'the credentials have expired. Give the client a provider that renews them, such as fromNodeProviderChain, instead ' +
      'of fixed keys'
    )
  }
  if (!unauthenticated.has(name)) return undefined
  return 'check the credentials and the region of the client, and the clock of this machine'
}

function said(failure: Error & Omit<ServiceFailure, 'name'>): string {
  const { name, $metadata: { requestId } = {} } = failure
  const message = networkMessage(failure) || (failure as { readonly code?: string }).code || 'no message'
  const named = name === 'Error' || message.includes(name) ? message : `${message} (${name})`
  return requestId === undefined ? named : `${named} [request ${requestId}]`
}

/** The cause without the request, whose headers have the token of the session. */
function withoutRequest(failure: Error & Omit<ServiceFailure, 'name'>): Error {
  const { name, message, $metadata, code } = failure as typeof failure & { readonly code?: string }
  return Object.assign(new Error(message), { name, $metadata, ...(code === undefined ? {} : { code }) })
}

/** Errors after which the service will always reject the same request. It had no effect. */
const refusals: ReadonlySet<string> = new Set([
  'ValidationException',
  'SerializationException',
  'UnknownOperationException',
])

/** The pause that the service asks for, in milliseconds. */
function retryAfterOf({ $response }: Pick<ServiceFailure, '$response'>): number | undefined {
  const { 'retry-after': seconds, 'x-amz-retry-after': milliseconds } = $response?.headers ?? {}
  const asked = milliseconds === undefined ? Number(seconds) * 1_000 : Number(milliseconds)
  return Number.isNaN(asked) ? undefined : asked
}
