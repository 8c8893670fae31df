import type { StoreCall } from '@leasehold/core/store'
import type { BucketClient } from './bucket-client.js'
import { failureOf, misconfigured } from './failure-of.js'

/** Makes the bucket, unless this account has it already. */
export async function createBucket(client: BucketClient, call: StoreCall): Promise<void> {
  const { bucket } = client
  const answer = await client.create(call)
  if (answer.status === 200 || answer.code === 'BucketAlreadyOwnedByYou') return
  if (answer.code === 'BucketAlreadyExists') {
    throw misconfigured(`the bucket '${bucket}' belongs to another account: choose another name`)
  }
  throw failureOf(answer, { operation: 'creation', bucket, key: '' })
}
