import { createHash, createHmac } from 'node:crypto'

/** Keys of an identity that may read and write the bucket. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary keys. */
  readonly sessionToken?: string | undefined
  /** When the keys expire; absent if they do not. */
  readonly expiration?: Date | undefined
}

/** A request to S3 that is to be signed. Its path and its query are percent-encoded by {@link percentEncoded}. */
export interface UnsignedRequest {
  readonly method: string
  readonly url: URL
  /** The headers with names in lower case, without `host`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The headers of a request with its signature, by Signature Version 4 of AWS: the rules of "Signature Calculations for the
 * Authorization Header" in the API reference of S3. `time`: milliseconds since 1970.
 */
export function signedHeaders(
  { method, url, headers, body }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  region: string,
  time: number,
): Record<string, string> {
  const date = new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = date.slice(0, 8)
  const bodyHash = sha256(body)
  const sent = {
    ...headers,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': date,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signed = Object.entries({ ...sent, host: url.host }).sort(([one], [other]) => (one < other ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`).join('')
  const request = [method, url.pathname, sortedQuery(url), lines, names, bodyHash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(request)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

/** The text with all bytes escaped that S3 wants escaped: more than `encodeURIComponent` escapes. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) =>
    `%${character.charCodeAt(0).toString(16)}`.toUpperCase(),
  )
}

function sortedQuery(url: URL): string {
  const parts = url.search.slice(1).split('&')
  const pairs = parts.filter((part) => part !== '').map((part) => (part.includes('=') ? part : `${part}=`))
  return pairs.sort().join('&')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
