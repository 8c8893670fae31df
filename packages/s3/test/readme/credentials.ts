// #region credentials
import { S3LeaseStore } from '@leasehold/s3'

/** `assume`: your function that gets temporary keys, such as a provider of `@aws-sdk/credential-providers`. */
export function storeWithRole(
  assume: () => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date }>,
): S3LeaseStore {
  return new S3LeaseStore({ bucket: 'my-leases', region: 'eu-central-1', credentials: assume })
}
// #endregion credentials
