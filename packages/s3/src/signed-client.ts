import type { StoreCall } from '@leasehold/core/store'
import { wallTime, withOwnSignal } from '@leasehold/core/store-kit'
import {
  type BucketAnswer,
  type BucketClient,
  type KeyPage,
  LARGEST_OBJECT,
  type ObjectRequest,
} from './bucket-client.js'
import type { CurrentCredentials } from './current-credentials.js'
import { foreignObject, noAnswer } from './failure-of.js'
import { percentEncoded, signedHeaders } from './signature.js'
import { elementIn, elementsIn } from './xml-text.js'

const CLOCK_IS_WRONG = 'RequestTimeTooSkewed'

/** A bucket at an address, over `fetch`. Each request is signed with the credentials of the moment. */
export class SignedClient implements BucketClient {
  readonly bucket: string
  /** The address of the bucket, with a slash at its end. */
  readonly #address: string
  readonly #region: string
  readonly #credentials: CurrentCredentials
  /** By how much the clock of the service is ahead of this machine's, in milliseconds; 0 until it refuses a signature. */
  #ahead = 0

  constructor(bucket: string, address: string, region: string, credentials: CurrentCredentials) {
    this.bucket = bucket
    this.#address = address
    this.#region = region
    this.#credentials = credentials
  }

  async send({ method, key, body = '', condition }: ObjectRequest, call: StoreCall): Promise<BucketAnswer> {
    const headers: Record<string, string> = method === 'PUT' ? { 'content-type': 'application/json' } : {}
    if (condition === 'absent') headers['if-none-match'] = '*'
    else if (condition !== undefined) headers['if-match'] = condition.etag
    const path = key.split('/').map(percentEncoded).join('/')
    return await this.#ask({ method, url: new URL(this.#address + path), headers, body }, call)
  }

  async list(prefix: string, from: string | undefined, call: StoreCall): Promise<KeyPage> {
    const query = { 'list-type': '2', prefix, ...(from === undefined ? {} : { 'continuation-token': from }) }
    const text = Object.entries(query).map(([name, value]) => `${name}=${percentEncoded(value)}`)
    const url = new URL(`${this.#address}?${text.join('&')}`)
    const answer = await this.#ask({ method: 'GET', url, headers: {}, body: '' }, call)
    return { ...answer, keys: elementsIn(answer.text, 'Key'), next: elementIn(answer.text, 'NextContinuationToken') }
  }

  async create(call: StoreCall): Promise<BucketAnswer> {
    return await this.#ask({ method: 'PUT', url: new URL(this.#address), headers: {}, body: this.#placeOfBucket }, call)
  }

  /** The region is named but for the two that services take when none is named. */
  get #placeOfBucket(): string {
    if (this.#region === 'us-east-1' || this.#region === 'auto') return ''
    const place = `<LocationConstraint>${this.#region}</LocationConstraint>`
    return `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${place}</CreateBucketConfiguration>`
  }

  /** Repeats a request that the service refused because of this machine's clock, with the time of the service. */
  async #ask(request: Parameters<typeof signedHeaders>[0], call: StoreCall): Promise<BucketAnswer> {
    const answer = await this.#fetch(request, call)
    const time = Date.parse(answer.header('date') ?? '')
    if (answer.code !== CLOCK_IS_WRONG || Number.isNaN(time)) return answer
    this.#ahead = time - wallTime()
    return await this.#fetch(request, call)
  }

  async #fetch(request: Parameters<typeof signedHeaders>[0], call: StoreCall): Promise<BucketAnswer> {
    const credentials = await this.#credentials.get(call)
    const headers = signedHeaders(request, credentials, this.#region, wallTime() + this.#ahead)
    const { method, url, body } = request
    const content = method === 'PUT' ? { body } : {}
    return await withOwnSignal(call, async (signal) => {
      try {
        // A redirection is the answer to a wrong region: the signature would not fit there.
        const response = await fetch(url, { method, headers, ...content, redirect: 'manual', signal })
        const answer = await toAnswer(response)
        if (answer.status === 400 || answer.status === 403) this.#credentials.forget(credentials)
        return answer
      } catch (error) {
        throw noAnswer(error)
      }
    })
  }
}

async function toAnswer(response: Response): Promise<BucketAnswer> {
  const { status, headers } = response
  if (Number(headers.get('content-length')) > LARGEST_OBJECT) {
    await response.body?.cancel()
    throw foreignObject()
  }
  const text = await response.text()
  const header = (name: string): string | undefined => headers.get(name) ?? undefined
  if (response.ok) return { status, header, text }
  return { status, header, text: '', code: elementIn(text, 'Code'), message: elementIn(text, 'Message') }
}
