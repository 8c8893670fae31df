// #region sdk
import type { S3Client } from '@aws-sdk/client-s3'
import { S3LeaseStore } from '@leasehold/s3'

/** With the region, the credentials and the proxy of a client that you have. */
export function storeOver(client: S3Client, bucket: string): S3LeaseStore {
  return new S3LeaseStore({ client, bucket })
}
// #endregion sdk
