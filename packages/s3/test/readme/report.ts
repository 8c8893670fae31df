// #region example
import { createLease } from '@leasehold/core'
import { type S3BucketOptions, S3Guard, S3LeaseStore } from '@leasehold/s3'

export async function publishOnce(bucket: S3BucketOptions, total: () => Promise<number>) {
  const store = new S3LeaseStore(bucket)
  const guard = new S3Guard(bucket)
  await createLease(store, 'report', { heartbeatTimeout: 30_000 }).run(async ({ fencingToken }) => {
    const report = { total: await total() }
    // Rejects with a LeaseLostError if the object was written under a larger token.
    await guard.write('reports/latest.json', fencingToken, report)
  })
  await store.close()
}
// #endregion example
