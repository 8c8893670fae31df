// #region services
import { S3LeaseStore } from '@leasehold/s3'

export function storesOn(account: string, credentials: { accessKeyId: string; secretAccessKey: string }) {
  return {
    aws: new S3LeaseStore({ bucket: 'my-leases', region: 'eu-central-1', credentials }),
    r2: new S3LeaseStore({
      bucket: 'my-leases',
      endpoint: `https://${account}.r2.cloudflarestorage.com`,
      region: 'auto',
      credentials,
    }),
    own: new S3LeaseStore({ bucket: 'my-leases', endpoint: 'http://ceph.internal:7480', credentials }),
  }
}
// #endregion services
