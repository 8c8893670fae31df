import {
  createLease,
  LeaseConfigurationError,
  LeaseStoreUnfitError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { type S3Credentials, S3Guard, S3LeaseStore } from '@leasehold/s3'
import { silentLogger } from '@leasehold/testing'
import { claimOf, granted, never } from '@leasehold/testing/named-claims'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { LeaseKeys } from '../src/lease-object.js'
import { credentials } from './support/credentials.js'
import { type Interception, StandInS3 } from './support/stand-in-s3.js'

const server = await StandInS3.start()
afterAll(() => server.stop())

beforeEach(() => {
  server.objects.clear()
  server.requests.length = 0
  server.intercept = () => undefined
})

const open = (options: object = {}): S3LeaseStore =>
  new S3LeaseStore({ bucket: 'leases', endpoint: server.url, credentials, probe: false, ...options })

describe('an answer that is no success becomes a typed error that says what to do', () => {
  it.each<[string, Interception, new (message: string) => Error, RegExp]>([
    [
      'SlowDown',
      { status: 503, code: 'SlowDown', headers: { 'retry-after': '7' } },
      LeaseUnavailableError,
      /503 SlowDown/,
    ],
    ['500', { status: 500, code: 'InternalError' }, LeaseUnavailableError, /500 InternalError/],
    ['429', { status: 429 }, LeaseUnavailableError, /\(429/],
    ['RequestTimeout', { status: 400, code: 'RequestTimeout' }, LeaseUnavailableError, /400 RequestTimeout/],
    [
      'AccessDenied',
      { status: 403, code: 'AccessDenied' },
      LeaseUnauthorisedError,
      /allow s3:GetObject .* s3:ListBucket/,
    ],
    ['a wrong key', { status: 403, code: 'SignatureDoesNotMatch' }, LeaseUnauthorisedError, /check the access key/],
    [
      'an expired token',
      { status: 400, code: 'ExpiredToken' },
      LeaseUnauthorisedError,
      /'credentials' may be a function/,
    ],
    [
      'a wrong clock that stays wrong',
      { status: 403, code: 'RequestTimeTooSkewed' },
      LeaseUnauthorisedError,
      /the clock of this machine is wrong \(the service's is \w{3}, /,
    ],
    [
      'another region, as a redirection',
      { status: 301, code: 'PermanentRedirect', headers: { 'x-amz-bucket-region': 'eu-west-3' } },
      LeaseConfigurationError,
      /the bucket is in region 'eu-west-3': set region/,
    ],
    [
      'another region, in the message',
      {
        status: 400,
        code: 'AuthorizationHeaderMalformed',
        message: "the region 'us-east-1' is wrong; expecting 'eu-west-1'",
      },
      LeaseConfigurationError,
      /the bucket is in region 'eu-west-1': set region/,
    ],
    ['another region that is not named', { status: 307 }, LeaseConfigurationError, /set the region of the bucket/],
    ['no bucket', { status: 404, code: 'NoSuchBucket' }, LeaseConfigurationError, /create it: aws s3 mb s3:\/\/leases/],
    ['any other refusal', { status: 400, code: 'InvalidArgument' }, LeaseConfigurationError, /400 InvalidArgument/],
    ['a header that is not known', { status: 501, code: 'NotImplemented' }, LeaseStoreUnfitError, /If-Match/],
  ])('%s', async (_, answer, type, message) => {
    server.intercept = () => answer
    const failed = open().acquire(claimOf('job'), never)
    await expect(failed).rejects.toBeInstanceOf(type)
    await expect(failed).rejects.toMatchObject({ store: 's3', leaseName: 'job' })
    await expect(failed).rejects.toThrow(message)
  })

  it.each([
    [{ status: 409, code: 'BucketAlreadyExists' }, LeaseConfigurationError, /'leases' belongs to another account/],
    [
      { status: 403, code: 'AccessDenied' },
      LeaseUnauthorisedError,
      /creation of bucket 'leases' .*allow s3:CreateBucket/,
    ],
    [{ status: 503, code: 'SlowDown' }, LeaseUnavailableError, /creation of bucket 'leases' failed \(503 SlowDown/],
  ])('migrate: %j', async (answer, type, message) => {
    server.intercept = () => answer
    const failed = open().migrate()
    await expect(failed).rejects.toBeInstanceOf(type)
    await expect(failed).rejects.toThrow(message)
  })

  it('migrate: a bucket that this account has is good', async () => {
    server.intercept = () => ({ status: 409, code: 'BucketAlreadyOwnedByYou' })
    await open().migrate()
  })

  it('a pause that the service asks for is passed on', async () => {
    server.intercept = () => ({ status: 503, code: 'SlowDown', headers: { 'retry-after': '7' } })
    await expect(open().read('job', never)).rejects.toMatchObject({ retryAfter: 7_000 })
  })

  it('no error shows a secret', async () => {
    server.intercept = () => ({ status: 403, code: 'AccessDenied' })
    const error = await open()
      .read('job', never)
      .catch((reason: unknown) => reason)
    const { inspect } = await import('node:util')
    expect(inspect(error, { depth: 9 })).not.toMatch(/wJalr|Signature=/)
  })
})

describe('a conditional write', () => {
  it('that met another write at the same time is tried again', async () => {
    let conflicts = 0
    server.intercept = ({ method }) => {
      if (method !== 'PUT' || conflicts > 0) return undefined
      conflicts += 1
      return { status: 409, code: 'ConditionalRequestConflict' }
    }
    expect((await open().acquire(claimOf('job'), never)).granted).toBe(true)
    expect(conflicts).toBe(1)
  })

  it('of an object that was deleted meanwhile has no effect: the holder has lost its lease', async () => {
    const store = open()
    const grant = await granted(store, 'job')
    server.objects.clear()
    expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'deleted' })
    expect(server.objects.size).toBe(0)
  })

  it('never has the contents of another, so that no ETag returns', async () => {
    const store = open()
    server.etags.length = 0
    for (let round = 0; round < 3; round += 1) {
      await granted(store, 'job')
      server.objects.clear()
    }
    // Each round creates the object without an owner, and then grants it.
    expect(new Set(server.etags).size).toBe(6)
  })
})

describe('a service that knows ETags without quotes only, as the gateway of Ceph', () => {
  it('is fit: the form is learnt in the check, and used from then on', async (test) => {
    const ceph = await StandInS3.start({ wantsBareTags: true })
    test.onTestFinished(() => ceph.stop())
    const bucket = { bucket: 'leases', endpoint: ceph.url, credentials }
    const store = new S3LeaseStore(bucket)
    for (const { result } of await store.probe(never)) expect(result).toBe('ok')
    const grant = await granted(store, 'job')
    ceph.requests.length = 0
    for (let count = 0; count < 3; count += 1) expect(await store.renew(grant, never)).toEqual({ renewed: true })
    expect(ceph.requests).toHaveLength(3)
    const guard = new S3Guard(bucket)
    await guard.write('report', 2n, { a: 1 })
    await guard.write('report', 2n, { a: 2 })
    await expect(guard.write('report', 1n, { a: 3 })).rejects.toMatchObject({ code: 'lost' })
  })

  it('is not taken for one after a lost race, or after several', async () => {
    const [one, other] = [open(), open()]
    const grant = await granted(one, 'job')
    for (let count = 0; count < 3; count += 1) {
      await other.break?.('job', { period: 0 }, never)
      await one.renew(grant, never)
      await granted(other, 'job', { owner: `${count}` })
    }
    server.requests.length = 0
    await one.acquire(claimOf('other'), never)
    const sent = server.requests.map(({ headers }) => headers['if-match']).filter((tag) => tag !== undefined)
    expect(sent).toEqual([expect.stringMatching(/^"\w+"$/)])
  })
})

describe('an object of another program', () => {
  const key = new LeaseKeys('leases/').of('job')

  it.each([
    ['no JSON', 'hello'],
    ['JSON that is no object', '"hello"'],
    ['null', 'null'],
    ['a record without a token', '{"name":"job","owner":"anna"}'],
    [
      'a token that is no number',
      '{"name":"job","owner":"","grantId":"","fencingToken":"x","ttl":1,"revision":0,"metadata":{}}',
    ],
  ])('is not overwritten: %s', async (_, body) => {
    server.put(key, body)
    const failed = open().acquire(claimOf('job'), never)
    await expect(failed).rejects.toThrow(/the entry of 'job' in the s3 store is no lease record/)
    await expect(failed).rejects.toBeInstanceOf(LeaseConfigurationError)
    expect(server.objects.get(key)?.body).toBe(body)
  })

  it('is left out of a listing', async () => {
    server.put('leases/other', 'hello')
    server.put('leases/a b', '{"name":"a b"}')
    await granted(open(), 'job')
    const names: string[] = []
    for await (const { name } of open().list?.('', never) ?? []) names.push(name)
    expect(names).toEqual(['job'])
  })

  it('is not read if it is large', async () => {
    server.put(key, 'x'.repeat(8_000_001))
    await expect(open().read('job', never)).rejects.toThrow(/too large: it was written by another program/)
  })
})

it('a listing goes over pages, and has shortened names too', async () => {
  const paged = await StandInS3.start({ pageSize: 2 })
  const store = new S3LeaseStore({ bucket: 'leases', endpoint: paged.url, credentials, probe: false })
  const long = `n${'ö'.repeat(500)}`
  const expected = ['n1', 'n/2', 'n<&>', 'n 4', long]
  await Promise.all(['m', ...expected].map((name) => granted(store, name)))
  const names: string[] = []
  for await (const { name } of store.list?.('n', never) ?? []) names.push(name)
  expect(names.sort()).toEqual(expected.sort())
  await paged.stop()
})

describe('credentials', () => {
  const temporary = (id: number, expiration?: Date): S3Credentials => ({
    accessKeyId: `AKID${id}`,
    secretAccessKey: 'secret',
    expiration,
  })
  const keysSent = (): unknown[] =>
    server.requests.map(({ headers }) => /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1])

  it('that say when they expire are asked for again shortly before', async () => {
    let asked = 0
    const store = open({
      credentials: async () => {
        asked += 1
        // The first ones expire in a minute: that is soon.
        return temporary(asked, new Date(asked === 1 ? wallTime() + 60_000 : wallTime() + 3_600_000))
      },
    })
    for (let count = 0; count < 3; count += 1) await store.read('job', never)
    expect(keysSent()).toEqual(['AKID1', 'AKID2', 'AKID2'])
  })

  it('that do not say so are asked for with each request', async () => {
    let asked = 0
    const store = open({ credentials: () => temporary(++asked) })
    await store.read('job', never)
    await store.read('job', never)
    expect(keysSent()).toEqual(['AKID1', 'AKID2'])
  })

  it('that expire in the middle, before they said, cost one heartbeat: the lease stays held', async () => {
    let asked = 0
    const store = open({ credentials: () => temporary(++asked, new Date(wallTime() + 3_600_000)) })
    const lease = createLease(store, 'job', { heartbeatInterval: 200, heartbeatTimeout: 20_000, logger: silentLogger })
    expect(await lease.acquire()).toBe(true)
    const refusing = (key: string) => {
      server.intercept = ({ headers }) =>
        headers.authorization?.includes(key) ? { status: 400, code: 'ExpiredToken' } : undefined
    }
    refusing('AKID1/')
    const recovered = new Promise((resolve) => lease.once('renewed', resolve))
    await recovered
    expect(lease.checkLease()).toBe(true)
    expect(asked).toBe(2)
    await lease.release()
  })
})

/** `x-amz-date`, such as 20261129T000000Z. */
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

describe('the clock of this machine', () => {
  it('may be wrong by an hour: requests are signed with the time of the service', async () => {
    const ahead = await StandInS3.start({ time: () => wallTime() + 3_600_000 })
    let refusals = 0
    ahead.intercept = ({ headers }) => {
      const sent = Date.parse(String(headers['x-amz-date']).replace(DATE, '$1-$2-$3T$4:$5:$6Z'))
      const isSkewed = Math.abs(wallTime() + 3_600_000 - sent) > 900_000
      if (!isSkewed) return undefined
      refusals += 1
      return { status: 403, code: 'RequestTimeTooSkewed' }
    }
    const store = new S3LeaseStore({ bucket: 'leases', endpoint: ahead.url, credentials })
    const grant = await granted(store, 'job')
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    // Only the first request was refused. The token is the time of the service.
    expect(refusals).toBe(1)
    expect(Number(grant.fencingToken)).toBeGreaterThan(wallTime() + 3_500_000)
    await ahead.stop()
  })
})

describe('a takeover', () => {
  it('needs one look at an object that was not written for the ttl, by two times of the service', async () => {
    let time = Date.parse('2026-11-29T12:00:00Z')
    const timed = await StandInS3.start({ time: () => time })
    const store = (): S3LeaseStore =>
      new S3LeaseStore({ bucket: 'leases', endpoint: timed.url, credentials, probe: false })
    await granted(store(), 'job', { owner: 'gone', ttl: 10_000 })
    // The ttl, two steps of a second, and the difference of clocks.
    time += 14_000
    expect((await store().acquire(claimOf('job'), never)).granted).toBe(false)
    time += 1_000
    expect((await store().acquire(claimOf('job'), never)).granted).toBe(true)
    await timed.stop()
  })
})

describe('the guard', () => {
  it('refuses an object that is no JSON object, and does not write it', async () => {
    server.put('report', 'text')
    const guard = new S3Guard({ bucket: 'leases', endpoint: server.url, credentials })
    await expect(guard.write('report', 1n, { a: 1 })).rejects.toThrow(/'report' is no JSON object/)
    await expect(guard.write('other', 1n, [] as never)).rejects.toThrow(/must be an object that JSON can have/)
    expect([...server.objects.keys()]).toEqual(['report'])
  })

  it('notices a write of equal contents in between, and changes what is there then', async () => {
    const guard = new S3Guard({ bucket: 'leases', endpoint: server.url, credentials })
    await guard.write('equal', 1n, { a: 1 })
    let calls = 0
    await guard.transact('equal', 1n, async (value) => {
      calls += 1
      if (calls === 1) await guard.write('equal', 1n, { a: 1 })
      return { ...value, b: 2 }
    })
    expect(calls).toBe(2)
  })

  it('does not apply a change twice whose answer was lost and which the client repeated', async () => {
    const guard = new S3Guard({ bucket: 'leases', endpoint: server.url, credentials })
    await guard.write('count', 1n, { count: 1 })
    server.repeatsNextWrite = true
    await guard.transact('count', 1n, (value) => ({ count: Number(value?.count) + 1 }))
    expect(JSON.parse(server.objects.get('count')?.body ?? '').count).toBe(2)
  })
})
