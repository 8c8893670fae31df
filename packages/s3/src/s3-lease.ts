import { type OpenContext, providerFactory } from '@leasehold/core/store-kit'
import { misconfigured } from './failure-of.js'
import { S3LeaseStore } from './s3-lease-store.js'
import { type S3BucketOptions, type S3Options, s3Options } from './s3-options.js'
import { openSdkClient } from './sdk-client.js'

/**
 * The factory of leases that `lease-class = "@leasehold/s3"` names. All leases of one provider with the same options share a
 * store.
 */
export const s3Lease = providerFactory(s3Options, open)

async function open(options: S3Options, { clock }: OpenContext): Promise<S3LeaseStore> {
  const { bucket = '', prefix, clockDifference, maxTtl, probe } = options
  return new S3LeaseStore({ bucket, prefix, clockDifference, maxTtl, probe, clock, ...(await access(options)) })
}

/** How to reach the bucket. */
async function access(options: S3Options): Promise<Partial<S3BucketOptions>> {
  const { region, endpoint, pathStyle, accessKeyId, secretAccessKey, sessionToken, sdk } = options
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw misconfigured('give both access-key-id and secret-access-key, or none of them')
  }
  const keys = accessKeyId !== undefined && secretAccessKey !== undefined
  const credentials = keys ? { accessKeyId, secretAccessKey, sessionToken } : undefined
  if (sdk !== true) return { region, endpoint, pathStyle, credentials }
  return { client: await openSdkClient({ region, endpoint, pathStyle, credentials }) }
}
