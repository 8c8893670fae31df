import type { StoreCall } from '@leasehold/core/store'

/** A request for one object of the bucket. */
export interface ObjectRequest {
  readonly method: 'GET' | 'PUT'
  readonly key: string
  /** Of a PUT: the JSON that is written. */
  readonly body?: string
  /** Of a PUT: the ETag that the object must have; `absent`: there must be no object. */
  readonly condition?: { readonly etag: string } | 'absent'
}

/** An answer of the service, whatever its status. */
export interface BucketAnswer {
  readonly status: number
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** The content of the object; empty in an answer that is no success. */
  readonly text: string
  /** The code of an error of S3, such as `SlowDown`. */
  readonly code?: string | undefined
  /** The message of an error of S3. */
  readonly message?: string | undefined
}

/** A page of a listing. `keys` is empty in an answer that is no success. */
export interface KeyPage extends BucketAnswer {
  readonly keys: readonly string[]
  /** The token of the next page; `undefined` on the last one. */
  readonly next: string | undefined
}

/**
 * Sends requests to one bucket. The methods resolve with the answer, whatever its status. They reject with a `LeaseError` if
 * no answer comes, and with the reason of the abort when the call is aborted.
 */
export interface BucketClient {
  readonly bucket: string
  send(request: ObjectRequest, call: StoreCall): Promise<BucketAnswer>
  list(prefix: string, from: string | undefined, call: StoreCall): Promise<KeyPage>
  /** Makes the bucket, in the region of the client. */
  create(call: StoreCall): Promise<BucketAnswer>
}

/** No record has this many bytes; a larger object is of another program, and is not read. */
export const LARGEST_OBJECT = 8_000_000
