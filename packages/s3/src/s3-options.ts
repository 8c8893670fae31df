import type { Clock } from '@leasehold/core'
import { type OptionNames, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'
import type { S3CredentialsSource } from './current-credentials.js'
import type { S3ClientLike } from './sdk-client.js'

/** The options of the block `leasehold.s3`. After a change: `npm run docs:update`. */
export const s3Options = new ProviderOptions('s3', {
  bucket: {
    type: 'text',
    example: '"my-leases"',
    description: 'The bucket of the lease objects. It must exist: the store creates none.',
  },
  prefix: {
    type: 'text',
    default: '"leases/"',
    description: 'The keys of lease objects begin with this. Let no lifecycle rule delete them.',
  },
  region: {
    type: 'text',
    description:
      'The region of the bucket. Default: AWS_REGION or AWS_DEFAULT_REGION; us-east-1 if there is an endpoint.',
  },
  endpoint: {
    type: 'text',
    description:
      'The address of a service other than AWS, such as https://ACCOUNT.r2.cloudflarestorage.com. Default: ' +
      'AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; else AWS in the region.',
  },
  pathStyle: {
    type: 'switch',
    description:
      'Whether the bucket is in the path of an address, or the first part of its host. Default: on if there is an ' +
      'endpoint, or the bucket has a dot in its name.',
  },
  accessKeyId: {
    type: 'text',
    description: 'The id of an access key. Default: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
  },
  secretAccessKey: { type: 'secret', description: 'The secret of the access key.' },
  sessionToken: { type: 'secret', description: 'The session token of a temporary access key.' },
  sdk: {
    type: 'switch',
    default: 'off',
    description:
      'Whether to use @aws-sdk/client-s3, which finds credentials in profiles, roles of machines and containers, and SSO.',
  },
  clockDifference: {
    type: 'duration',
    default: '2s',
    description:
      'By how much the clocks of two servers of the service can differ. It delays a takeover after a crash by this time.',
  },
  maxTtl: {
    type: 'duration',
    default: '1h',
    description: 'The longest heartbeat-timeout. Use the same in all processes.',
  },
  probe: {
    type: 'switch',
    default: 'on',
    description:
      'Whether to check before the first grant that the service keeps the conditions of writes, in five or six requests.',
  },
})

/** The options of a configuration block, in camel case; durations in milliseconds. */
export type S3Options = OptionsOf<(typeof s3Options)['declarations']>

/** A bucket, and how to reach it. */
export interface S3BucketOptions {
  /** The bucket. It must exist. */
  readonly bucket: string
  /**
   * An `S3Client` of `@aws-sdk/client-s3`, with its region, credentials, retries and proxies. Without it, requests are signed
   * here and sent by `fetch`.
   */
  readonly client?: S3ClientLike | undefined
  /** The region; that of `AWS_REGION` or `AWS_DEFAULT_REGION` unless given, or `us-east-1` if there is an endpoint. */
  readonly region?: string | undefined
  /** The address of another service than AWS; that of `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` unless given. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is in the path of the address; unless given, only with an endpoint or a dot in the bucket's name. */
  readonly pathStyle?: boolean | undefined
  /**
   * Keys, or a function that resolves with them, such as `fromNodeProviderChain()` of `@aws-sdk/credential-providers`. It is
   * called again before they expire, and for each request if they have no `expiration`. Unless given, those of
   * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` at each request.
   */
  readonly credentials?: S3CredentialsSource | undefined
}

/** Options of an `S3LeaseStore`. Durations are milliseconds. */
export interface S3LeaseStoreOptions extends S3BucketOptions {
  /** The keys of lease objects begin with this; `leases/` unless given. */
  readonly prefix?: string | undefined
  /**
   * By how much the clocks of two servers of the service can differ; 2,000 unless given. `Infinity`: their times are not
   * compared, and each challenger has to see an object unchanged for its ttl.
   */
  readonly clockDifference?: number | undefined
  /** The longest ttl, 1 h unless given; also the cap on the ttl of records that others wrote. */
  readonly maxTtl?: number | undefined
  /** Whether to check before the first grant that the service keeps the conditions of writes; on unless given. */
  readonly probe?: boolean | undefined
  /** The clock on which records are observed; the machine's unless given. */
  readonly clock?: Clock | undefined
}

export const bucketOptionNames: OptionNames<S3BucketOptions> = {
  bucket: true,
  client: true,
  region: true,
  endpoint: true,
  pathStyle: true,
  credentials: true,
}

export const storeOptionNames: OptionNames<S3LeaseStoreOptions> = {
  ...bucketOptionNames,
  prefix: true,
  clockDifference: true,
  maxTtl: true,
  probe: true,
  clock: true,
}
