import type { StoreCall } from '@leasehold/core/store'
import { KNOWN_NAMES, RecentMap } from '@leasehold/core/store-kit'
import type { BucketAnswer, BucketClient, KeyPage, ObjectRequest } from './bucket-client.js'

/**
 * Sends ETags in the form that the service knows. HTTP writes them in quotes. Ceph's gateway answers with quotes, and refuses
 * each `If-Match` of a write that has them. A service that refuses an ETag, and then answers a read with the same one, does not
 * know its form: no two writes have one ETag. The next write has the other form.
 */
export class TagForm implements BucketClient {
  readonly bucket: string
  readonly #client: BucketClient
  #isQuoted = true
  /** The ETags that were refused last, by key. */
  readonly #refused = new RecentMap<string>(KNOWN_NAMES)

  constructor(client: BucketClient) {
    this.bucket = client.bucket
    this.#client = client
  }

  async send(request: ObjectRequest, call: StoreCall): Promise<BucketAnswer> {
    const { key, condition } = request
    if (condition === undefined || condition === 'absent') {
      const answer = await this.#client.send(request, call)
      if (answer.status === 200) this.#compare(key, answer.header('etag'))
      return answer
    }
    const { etag } = condition
    const isQuoted = this.#isQuoted
    const sent = isQuoted ? etag : etag.replace(/^"(.*)"$/, '$1')
    const answer = await this.#client.send({ ...request, condition: { etag: sent } }, call)
    // Another write may have changed the form meanwhile: this refusal then says nothing about it.
    if (answer.status === 412 && isQuoted === this.#isQuoted) this.#refused.set(key, etag)
    return answer
  }

  list(prefix: string, from: string | undefined, call: StoreCall): Promise<KeyPage> {
    return this.#client.list(prefix, from, call)
  }

  create(call: StoreCall): Promise<BucketAnswer> {
    return this.#client.create(call)
  }

  #compare(key: string, etag: string | undefined): void {
    const refused = this.#refused.get(key)
    if (refused === undefined) return
    this.#refused.delete(key)
    if (refused !== etag) return
    this.#isQuoted = !this.#isQuoted
    this.#refused.clear()
  }
}
