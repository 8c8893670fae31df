import { describe, expect, it } from 'vitest'
import { percentEncoded, signedHeaders } from '../src/signature.js'
import { credentials } from './support/credentials.js'

/** The examples of "Signature Calculations for the Authorization Header" in the API reference of S3. */
const HOST = 'https://examplebucket.s3.amazonaws.com'
const TIME = Date.parse('2013-05-24T00:00:00Z')

function signatureOf(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const signed = signedHeaders({ method, url: new URL(HOST + path), headers, body }, credentials, 'us-east-1', TIME)
  return /Signature=(\w+)$/.exec(signed.authorization ?? '')?.[1] ?? ''
}

describe('the signature is that of the examples of AWS', () => {
  it('for a GET of an object, with a header', () => {
    const signature = signatureOf('GET', '/test.txt', { range: 'bytes=0-9' })
    expect(signature).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41')
  })

  it('for a PUT of an object whose key has to be escaped', () => {
    const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' }
    const signature = signatureOf('PUT', `/${percentEncoded('test$file.text')}`, headers, 'Welcome to Amazon S3.')
    expect(signature).toBe('98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd')
  })

  it('for a query without a value', () => {
    expect(signatureOf('GET', '/?lifecycle')).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543')
  })

  it('for a query with values, in any order', () => {
    const listed = '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'
    expect(signatureOf('GET', '/?max-keys=2&prefix=J')).toBe(listed)
    expect(signatureOf('GET', '/?prefix=J&max-keys=2')).toBe(listed)
  })
})

it('the authorization names the key, the day, the region and the signed headers', () => {
  const request = { method: 'GET', url: new URL(`${HOST}/test.txt`), headers: { range: 'bytes=0-9' }, body: '' }
  expect(signedHeaders(request, credentials, 'us-east-1', TIME)).toEqual({
    range: 'bytes=0-9',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  })
})

it('the token of a session is sent, and signed', () => {
  const temporary = { ...credentials, sessionToken: 'a token' }
  const request = { method: 'GET', url: new URL(`${HOST}/test.txt`), headers: {}, body: '' }
  const signed = signedHeaders(request, temporary, 'us-east-1', TIME)
  expect(signed['x-amz-security-token']).toBe('a token')
  expect(signed.authorization).toMatch(/x-amz-date;x-amz-security-token, /)
})

it('all bytes are escaped but letters, digits and -_.~', () => {
  expect(percentEncoded("a-b_c.d~e f/g!h'i(j)k*l+ü")).toBe('a-b_c.d~e%20f%2Fg%21h%27i%28j%29k%2Al%2B%C3%BC')
})
