import { LeaseProvider, LeaseUnauthorisedError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { S3LeaseStore, type S3LeaseStoreOptions, s3Lease } from '@leasehold/s3'
import { describe, expect, it } from 'vitest'
import { openBucket } from '../src/open-bucket.js'
import { credentials } from './support/credentials.js'
import { StandInS3 } from './support/stand-in-s3.js'

const region = 'eu-central-1'
const valid = { bucket: 'leases', region, credentials }
const never = new AbortableCall()

describe('an invalid option is refused before anything is sent', () => {
  it.each<[string, object, RegExp]>([
    ['no bucket', { bucket: undefined }, /bucket must be the name of a bucket, such as my-leases, not undefined/],
    ['a bucket with a path', { bucket: 'leases/a' }, /not 'leases\/a'/],
    ['a region that is none', { region: 'eu central' }, /region, or AWS_REGION, must be .* not 'eu central'/],
    ['an endpoint without a protocol', { endpoint: 's3.example.com' }, /endpoint must be an address such as/],
    ['an endpoint with a query', { endpoint: 'https://s3.example.com?a=b' }, /endpoint must be an address such as/],
    ['credentials without a secret', { credentials: { accessKeyId: 'A' } }, /credentials must be \{ accessKeyId/],
    ['a client that is none', { client: {}, region: undefined, credentials: undefined }, /client must be an S3Client/],
    ['a client and a region', { client: { send: () => {} } }, /client has its own region, credentials: leave out/],
    ['a prefix that an address would change', { prefix: '../leases/' }, /the prefix '..\/leases\/' is not valid/],
    ['a prefix with two slashes', { prefix: 'a//' }, /the prefix 'a\/\/' is not valid/],
    ['a clock difference below 0', { clockDifference: -1 }, /clockDifference/],
    ['a clock difference that is no number', { clockDifference: Number.NaN }, /clockDifference/],
    ['a largest ttl below the shortest', { maxTtl: 4_000 }, /maxTtl \(4000\)/],
  ])('%s', (_, options, message) => {
    expect(() => new S3LeaseStore({ ...valid, ...options } as S3LeaseStoreOptions)).toThrow(
      expect.objectContaining({ name: 'LeaseConfigurationError', message: expect.stringMatching(message) }),
    )
  })
})

describe('the address of an object', () => {
  const addressOf = async (options: object): Promise<string> => {
    const client = openBucket({ ...valid, ...options })
    const call = new AbortableCall()
    let url = ''
    const before = globalThis.fetch
    globalThis.fetch = async (asked) => {
      url = String(asked)
      return new Response('', { status: 404 })
    }
    try {
      await client.send({ method: 'GET', key: 'leases/a~2fb' }, call)
    } finally {
      globalThis.fetch = before
    }
    return url
  }

  it.each([
    ['has the bucket in the host on AWS', {}, 'https://leases.s3.eu-central-1.amazonaws.com/leases/a~2fb'],
    [
      'has a bucket with a dot in the path',
      { bucket: 'a.b' },
      'https://s3.eu-central-1.amazonaws.com/a.b/leases/a~2fb',
    ],
    ['is in China', { region: 'cn-north-1' }, 'https://leases.s3.cn-north-1.amazonaws.com.cn/leases/a~2fb'],
    [
      'has the bucket in the path of an endpoint',
      { endpoint: 'http://s3.test:9000/x' },
      'http://s3.test:9000/x/leases/leases/a~2fb',
    ],
    [
      'has the bucket in the host if asked',
      { endpoint: 'http://s3.test:9000', pathStyle: false },
      'http://leases.s3.test:9000/leases/a~2fb',
    ],
  ])('%s', async (_, options, address) => {
    expect(await addressOf(options)).toBe(address)
  })
})

describe('the environment', () => {
  it('gives the credentials, the region and the endpoint', async (test) => {
    const server = await StandInS3.start()
    test.onTestFinished(() => server.stop())
    const env = {
      AWS_ACCESS_KEY_ID: 'AKIDFROMENV',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'session',
      AWS_REGION: 'eu-north-1',
      AWS_ENDPOINT_URL_S3: server.url,
    }
    const before = { ...process.env }
    Object.assign(process.env, env)
    test.onTestFinished(() => {
      for (const name of Object.keys(env)) delete process.env[name]
      Object.assign(process.env, before)
    })
    await new S3LeaseStore({ bucket: 'leases' }).read('job', never)
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(/Credential=AKIDFROMENV\/\d+\/eu-north-1\//),
      'x-amz-security-token': 'session',
    })
  })

  it('without credentials: the error says how to give them', async () => {
    const store = new S3LeaseStore({ bucket: 'leases', region, endpoint: 'http://127.0.0.1:1' })
    await expect(store.read('job', never)).rejects.toThrow(/there are no credentials: set AWS_ACCESS_KEY_ID/)
  })
})

describe('a configuration', () => {
  it('needs both parts of an access key', async () => {
    const settings = { leasehold: { s3: { 'lease-class': 's3', bucket: 'leases', region, 'access-key-id': 'A' } } }
    const provider = new LeaseProvider(settings, { s3: s3Lease })
    await expect(provider.getLease('job', 'leasehold.s3')).rejects.toThrow(
      /give both access-key-id and secret-access-key/,
    )
  })

  it('makes a lease that is held in the bucket', async (test) => {
    const server = await StandInS3.start()
    test.onTestFinished(() => server.stop())
    const block = {
      bucket: 'leases',
      endpoint: server.url,
      'access-key-id': 'A',
      'secret-access-key': 'B',
      prefix: 'mine/',
    }
    const provider = new LeaseProvider({ leasehold: { s3: { 'lease-class': 's3', ...block } } }, { s3: s3Lease })
    const held = await provider.getLease('job', 'leasehold.s3')
    expect(await held.acquire()).toBe(true)
    expect([...server.objects.keys()]).toEqual(['mine/leasehold-probe', 'mine/job'])
    await provider.close()
  })
})

it('a function of credentials that fails, or gives none, is a LeaseUnauthorisedError', async () => {
  for (const [source, message] of [
    [() => Promise.reject(new Error('no role')), /gave no credentials: no role/],
    [() => ({}), /it must return \{ accessKeyId, secretAccessKey \}/],
  ] as const) {
    const store = new S3LeaseStore({ ...valid, credentials: source as never })
    const failed = store.read('job', never)
    await expect(failed).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(failed).rejects.toThrow(message)
  }
})
