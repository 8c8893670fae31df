import type { BucketClient } from './bucket-client.js'
import { CurrentCredentials, type S3CredentialsSource } from './current-credentials.js'
import { misconfigured } from './failure-of.js'
import type { S3BucketOptions } from './s3-options.js'
import { SdkClient } from './sdk-client.js'
import type { S3Credentials } from './signature.js'
import { SignedClient } from './signed-client.js'
import { TagForm } from './tag-form.js'

/** The rules of S3 for names of buckets; other services allow capitals and underscores. */
const BUCKET = /^[A-Za-z0-9][\w.-]{1,253}[A-Za-z0-9]$/

/** The client of the bucket, which knows the form of ETags. Throws a `LeaseConfigurationError` that says which option is missing or wrong. */
export function openBucket(options: S3BucketOptions): BucketClient {
  return new TagForm(clientOf(options))
}

function clientOf(options: S3BucketOptions): BucketClient {
  const { bucket, client, credentials } = options
  if (typeof bucket !== 'string' || !BUCKET.test(bucket)) {
    throw misconfigured(`bucket must be the name of a bucket, such as my-leases, not ${shown(bucket)}`)
  }
  if (client !== undefined) {
    if (typeof client?.send !== 'function') throw misconfigured('client must be an S3Client of @aws-sdk/client-s3')
    const own = (['region', 'endpoint', 'pathStyle', 'credentials'] as const).filter(
      (name) => options[name] !== undefined,
    )
    if (own.length > 0) throw misconfigured(`client has its own ${own.join(', ')}: leave out one of them`)
    return new SdkClient(bucket, client)
  }
  const { env } = process
  const endpoint = options.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL
  const fallback = endpoint === undefined ? undefined : 'us-east-1'
  const region = options.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? fallback
  if (region === undefined || !/^[\w-]+$/.test(region)) {
    throw misconfigured(
      `region, or AWS_REGION, must be the region of the bucket, such as eu-central-1, not ${shown(region)}`,
    )
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const address = addressOf(endpoint ?? `https://s3.${region}.${domain}`)
  const isInPath = options.pathStyle ?? (endpoint !== undefined || bucket.includes('.'))
  if (!isInPath) address.host = `${bucket}.${address.host}`
  const href = isInPath ? `${address.href}${bucket}/` : address.href
  return new SignedClient(bucket, href, region, new CurrentCredentials(checked(credentials) ?? fromEnvironment))
}

function addressOf(endpoint: string): URL {
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (address === undefined || !/^https?:$/.test(address.protocol) || address.search !== '' || address.hash !== '') {
    throw misconfigured(`endpoint must be an address such as https://s3.example.com, not ${shown(endpoint)}`)
  }
  if (!address.pathname.endsWith('/')) address.pathname += '/'
  return address
}

function checked(credentials: S3CredentialsSource | undefined): S3CredentialsSource | undefined {
  if (credentials === undefined || typeof credentials === 'function') return credentials
  const { accessKeyId, secretAccessKey } = Object(credentials) as Partial<S3Credentials>
  if (isText(accessKeyId) && isText(secretAccessKey)) return credentials
  throw misconfigured('credentials must be { accessKeyId, secretAccessKey }, or a function that resolves with them')
}

/** Read for each request: a program may replace them before they expire. */
function fromEnvironment(): S3Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env
  if (isText(AWS_ACCESS_KEY_ID) && isText(AWS_SECRET_ACCESS_KEY)) {
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      sessionToken: AWS_SESSION_TOKEN || undefined,
    }
  }
  throw misconfigured(
    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, give 'credentials', or hand in a client of " +
      '@aws-sdk/client-s3, which knows profiles and the roles of machines',
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
