import { wallTime } from '@leasehold/core/store-kit'
import { type S3Credentials, signedHeaders } from '../../src/signature.js'

/** Sends a signed request that the package itself does not send, such as a deletion. */
export async function signedFetch(
  method: string,
  address: string,
  { accessKeyId, secretAccessKey }: S3Credentials,
  body = '',
): Promise<Response> {
  const url = new URL(address)
  const region = process.env.AWS_REGION ?? 'us-east-1'
  const headers = signedHeaders(
    { method, url, headers: {}, body },
    { accessKeyId, secretAccessKey },
    region,
    wallTime(),
  )
  return await fetch(url, { method, headers, ...(method === 'PUT' ? { body } : {}) })
}
