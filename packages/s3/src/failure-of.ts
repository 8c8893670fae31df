import {
  LeaseConfigurationError,
  LeaseError,
  LeaseStoreUnfitError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { misconfiguredFor, networkMessage } from '@leasehold/core/store-kit'
import type { BucketAnswer } from './bucket-client.js'

export const misconfigured = misconfiguredFor('s3')

/** The condition that the probe checks too: see `LeaseStoreUnfitError.setting`. */
export const CONDITIONS = 'conditional writes'

/** A request that the service has not done. */
export interface FailedRequest {
  readonly operation: 'read' | 'write' | 'list' | 'creation'
  readonly bucket: string
  /** The key; empty for the creation of the bucket; or the prefix of a listing. */
  readonly key: string
  /** The lease, if the request was for one. */
  readonly leaseName?: string | undefined
}

const PERMISSIONS = 's3:GetObject and s3:PutObject on its objects, and s3:ListBucket on the bucket'

const expired: ReadonlySet<string | undefined> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
])
const unknownKeys: ReadonlySet<string | undefined> = new Set([
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
])
const wrongRegion: ReadonlySet<string | undefined> = new Set([
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
])
/** Answers with a status of 400 to 499 after which the same request can succeed. */
const temporary: ReadonlySet<string | undefined> = new Set([
  'RequestTimeout',
  'OperationAborted',
  'ConditionalRequestConflict',
])

/** The error for a failed answer, by its code and its status. */
export function failureOf(answer: BucketAnswer, request: FailedRequest): LeaseError {
  const { status, code } = answer
  const { operation, bucket, key, leaseName } = request
  const said = [status, code, answer.message].filter((part) => part !== undefined).join(' ')
  const place = key === '' ? `bucket '${bucket}'` : `'${key}' in bucket '${bucket}'`
  const failed = `${operation} of ${place} failed (${said})`
  const details = { store: 's3', cause: causeOf(answer), ...(leaseName === undefined ? {} : { leaseName }) }
  if (expired.has(code)) {
    const advice = "renew the credentials: 'credentials' may be a function, which is asked again before they expire"
    return new LeaseUnauthorisedError(`${failed}: ${advice}`, details)
  }
  if (unknownKeys.has(code))
    return new LeaseUnauthorisedError(`${failed}: check the access key and its secret`, details)
  if (wrongRegion.has(code) || status === 301 || status === 307) return wrongPlace(failed, answer, details)
  if (status === 501) return unfit(failed, details)
  if (status === 429 || status >= 500 || status === 408 || temporary.has(code)) {
    return new LeaseUnavailableError(failed, { ...details, retryAfter: retryAfterOf(answer) })
  }
  if (status === 401 || status === 403) return unauthorised(failed, answer, operation, details)
  if (code === 'NoSuchBucket') return missingBucket(failed, bucket, details)
  return new LeaseConfigurationError(failed, details)
}

/** The error for a request without an answer: whether it was done is unknown. */
export function noAnswer(error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  // The message of fetch says only that it failed.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new LeaseUnavailableError(`S3 did not answer: ${networkMessage(cause)}`, { store: 's3', cause: error })
}

/** The error of the SDK for a request without an answer. */
export function failureOfSdk(error: unknown): LeaseError {
  const { name = '', message } = Object(error) as Partial<Error>
  if (!/Credentials|TokenProvider|SSO/.test(name)) return noAnswer(error)
  return new LeaseUnauthorisedError(`the client of the SDK has no credentials: ${message}`, {
    store: 's3',
    cause: error,
  })
}

/** The error for an object that is too large to be ours. */
export function foreignObject(): LeaseConfigurationError {
  return misconfigured('the object is too large: it was written by another program. Choose another prefix or name')
}

function unauthorised(
  failed: string,
  answer: BucketAnswer,
  operation: FailedRequest['operation'],
  details: LeaseErrorDetails,
): LeaseUnauthorisedError {
  if (answer.code === 'RequestTimeTooSkewed') {
    const advice = `the clock of this machine is wrong (the service's is ${answer.header('date')}): set it`
    return new LeaseUnauthorisedError(`${failed}: ${advice}`, details)
  }
  const advice =
    operation === 'creation'
      ? 'a policy of the identity has to allow s3:CreateBucket'
      : `a policy of the identity or of the bucket has to allow ${PERMISSIONS}; without the last one, the service answers ` +
        '403 for each object that does not exist yet'
  return new LeaseUnauthorisedError(`${failed}: ${advice}`, details)
}

function wrongPlace(failed: string, answer: BucketAnswer, details: LeaseErrorDetails): LeaseConfigurationError {
  const region = answer.header('x-amz-bucket-region') ?? /expecting '([\w-]+)'/.exec(answer.message ?? '')?.[1]
  const advice =
    region === undefined ? 'set the region of the bucket' : `the bucket is in region '${region}': set region`
  return new LeaseConfigurationError(`${failed}: ${advice}`, details)
}

function missingBucket(failed: string, bucket: string, details: LeaseErrorDetails): LeaseConfigurationError {
  return new LeaseConfigurationError(`${failed}: create it: aws s3 mb s3://${bucket}`, details)
}

function unfit(failed: string, details: LeaseErrorDetails): LeaseStoreUnfitError {
  const message = `${failed}: this service does not know the header If-Match or If-None-Match of a write. Leases need both: use a service that has them`
  return new LeaseStoreUnfitError(message, { ...details, setting: CONDITIONS })
}

function retryAfterOf(answer: BucketAnswer): number | undefined {
  const seconds = Number(answer.header('retry-after') ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : seconds * 1_000
}

/** What identifies the request at the service; nothing of the request itself, which has a signature. */
function causeOf(answer: BucketAnswer): Error {
  const { status, code, header } = answer
  const message = answer.message ?? `S3 answered ${status}`
  return Object.assign(new Error(message), { status, code, requestId: header('x-amz-request-id') })
}
