import type { CasRecord, CasRegister } from '@leasehold/core/store'

/** Of a request by the user that `s3rver` knows. The services of tests check the date, but not the signature. */
export function s3Headers(): Record<string, string> {
  const day = '20260101'
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=S3RVER/${day}/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=b`,
    'x-amz-date': new Date().toUTCString(),
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'content-type': 'application/json',
  }
}

/**
 * Records as objects of S3, as the documentation of S3 writes them: `If-None-Match: *` creates, `If-Match` replaces.
 * `bucket` is the address of a bucket.
 */
export function s3Register(bucket: string): CasRegister<string> {
  const address = (name: string) => `${bucket}/${encodeURIComponent(name)}`
  const put = async (name: string, record: CasRecord, condition: Record<string, string>, signal: AbortSignal) => {
    const body = JSON.stringify(record, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    const answer = await fetch(address(name), {
      method: 'PUT',
      headers: { ...s3Headers(), ...condition },
      body,
      signal,
    })
    if (answer.status === 412 || answer.status === 409) return undefined
    if (!answer.ok) throw new Error(`S3 answered ${answer.status}`)
    return { version: answer.headers.get('etag') ?? '' }
  }
  return {
    kind: 's3',
    read: async (name, { signal }) => {
      const answer = await fetch(address(name), { headers: s3Headers(), signal })
      if (answer.status === 404) return undefined
      const { fencingToken, ...record } = (await answer.json()) as CasRecord
      return {
        version: answer.headers.get('etag') ?? '',
        record: { ...record, fencingToken: BigInt(fencingToken) },
      }
    },
    create: (name, record, { signal }) => put(name, record, { 'if-none-match': '*' }, signal),
    replace: (name, record, version, { signal }) => put(name, record, { 'if-match': version }, signal),
  }
}
