import { randomUUID } from 'node:crypto'
import { createLease, LeaseUnauthorisedError } from '@leasehold/core'
import { S3Guard, S3LeaseStore } from '@leasehold/s3'
import { eventually, silentLogger } from '@leasehold/testing'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { claimOf, granted, never } from '@leasehold/testing/named-claims'
import { TcpProxy } from '@leasehold/testkit'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { MotoBucket, ways } from './support/moto-bucket.js'

/** Long enough for a busy machine. */
const times = { heartbeatInterval: 1_000, heartbeatTimeout: 10_000, operationTimeout: 5_000, logger: silentLogger }
const WAIT = 40_000

describeMoto('leases on a real server', () => {
  let moto: MotoServer
  beforeAll(async () => {
    moto = await MotoServer.start()
  })
  afterAll(() => moto.stop())

  /** A bucket behind a proxy of its own. */
  const proxied = async ({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) => {
    const proxy = await TcpProxy.to(moto.port)
    onTestFinished(() => proxy.close())
    return { proxy, bucket: await MotoBucket.create(moto), url: `http://127.0.0.1:${proxy.port}` }
  }

  describe.each(ways)('over %s', (way) => {
    it.concurrent('a name may have every character', async () => {
      const store = (await MotoBucket.create(moto)).store(way, { probe: false })
      const names = [
        'a/b',
        '..',
        '.',
        'ümläut',
        'a b+c&d=e?f#g%h',
        'emoji 🎉',
        'quote\'"<>',
        '\u0001\n',
        'x'.repeat(1_024),
      ]
      await Promise.all(names.map((name) => granted(store, name)))
      for (const name of names) expect(await store.read(name, never)).toMatchObject({ name, state: 'leased' })
      const listed: string[] = []
      for await (const { name } of store.list?.('', never) ?? []) listed.push(name)
      expect(listed.sort()).toEqual(names.sort())
    })

    it.concurrent('a bucket that is missing: the error has the command that makes it', async () => {
      const bucket = await MotoBucket.create(moto)
      const store = new S3LeaseStore({ ...bucket.access(way), bucket: 'nowhere' })
      await expect(store.acquire(claimOf('job'), never)).rejects.toThrow(/create it: aws s3 mb s3:\/\/nowhere/)
    })

    it.concurrent('migrate makes the bucket, and does nothing where it is there', async () => {
      const bucket = await MotoBucket.create(moto)
      const store = new S3LeaseStore({ ...bucket.access(way), bucket: `made-${randomUUID()}` })
      await store.migrate()
      await store.migrate()
      await granted(store, 'job')
    })

    it.concurrent('the guard rejects an old token, also after a deletion', async () => {
      const guard = new S3Guard((await MotoBucket.create(moto)).access(way))
      await guard.write('reports/today', 5n, { total: 1 })
      await expect(guard.write('reports/today', 4n, { total: 2 })).rejects.toMatchObject({ code: 'lost' })
      await guard.delete('reports/today', 6n)
      await expect(guard.write('reports/today', 5n, { total: 2 })).rejects.toMatchObject({ code: 'lost' })
      expect(await guard.transact('reports/today', 7n, (value) => ({ was: value === undefined }))).toEqual({
        was: true,
      })
    })

    it.concurrent('a write whose answer is lost is settled: the lease is held, once', async (test) => {
      const { proxy, bucket, url } = await proxied(test)
      const store = bucket.store(way, { probe: false }, url)
      await store.release(await granted(store, 'job'), never)
      const lease = createLease(store, 'job', times)
      // The answer to the read, or to the write.
      proxy.dropNextResponse()
      const isHeld = await lease.acquire({ wait: WAIT })
      expect(isHeld).toBe(true)
      const renewed = new Promise((resolve) => lease.on('renewed', resolve))
      proxy.dropNextResponse()
      await renewed
      expect(lease.checkLease()).toBe(true)
      expect(await bucket.store(way).read('job', never)).toMatchObject({ owner: lease.settings.owner, state: 'leased' })
      await lease.release()
    })

    it.concurrent('a heartbeat whose answer was lost is not taken for a loss', async (test) => {
      const { proxy, bucket, url } = await proxied(test)
      const store = bucket.store(way, { probe: false }, url)
      const grant = await granted(store, 'job')
      proxy.dropNextResponse()
      await expect(store.renew(grant, never)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      expect(await store.release(grant, never)).toEqual({ released: true })
    })

    it.concurrent('a server that is cut off: the lease is lost in time, and another owner follows', async (test) => {
      const { proxy, bucket, url } = await proxied(test)
      const lease = createLease(bucket.store(way, { probe: false }, url), 'job', times)
      const lost: string[] = []
      expect(await lease.acquire({ wait: WAIT, onLost: ({ reason }) => lost.push(reason) })).toBe(true)
      const token = lease.fencingToken ?? 0n
      proxy.blackHole()
      const next = createLease(bucket.store(way, { probe: false }), 'job', { ...times, owner: 'next' })
      let wasOverlap = false
      next.on('acquired', () => {
        wasOverlap = lease.checkLease()
      })
      expect(await next.acquire({ wait: WAIT })).toBe(true)
      expect(lost).toEqual(['expired'])
      expect(wasOverlap).toBe(false)
      expect(next.fencingToken).toBeGreaterThan(token)
      await next.release()
    })

    it.concurrent('a slow server costs no lease', async (test) => {
      const { proxy, bucket, url } = await proxied(test)
      const lease = createLease(bucket.store(way, { probe: false }, url), 'job', times)
      expect(await lease.acquire({ wait: WAIT })).toBe(true)
      proxy.slowDown(400)
      let renewals = 0
      lease.on('renewed', () => {
        renewals += 1
      })
      await eventually('three heartbeats are answered', async () => renewals >= 3)
      expect(lease.checkLease()).toBe(true)
      proxy.heal()
      await lease.release()
    })
  })
})

describeMoto('a server that verifies signatures', () => {
  let moto: MotoServer
  beforeAll(async () => {
    moto = await MotoServer.start()
  })
  afterAll(() => moto.stop())

  it('accepts those of the store, and refuses those of a wrong secret', async () => {
    const bucket = await MotoBucket.create(moto)
    const iam = async (action: string, query: Record<string, string>): Promise<string> => {
      const body = new URLSearchParams({ Action: action, Version: '2010-05-08', ...query })
      const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request' }
      return await (await fetch(moto.url, { method: 'POST', body, headers })).text()
    }
    const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] }
    await iam('CreateUser', { UserName: 'anna' })
    await iam('PutUserPolicy', { UserName: 'anna', PolicyName: 's3', PolicyDocument: JSON.stringify(policy) })
    const keys = await iam('CreateAccessKey', { UserName: 'anna' })
    const [, accessKeyId = ''] = /<AccessKeyId>(.*)<\/AccessKeyId>/.exec(keys) ?? []
    const [, secretAccessKey = ''] = /<SecretAccessKey>(.*)<\/SecretAccessKey>/.exec(keys) ?? []
    await fetch(`${moto.url}/moto-api/reset-auth`, { method: 'POST', body: '0' })

    const store = (secret: string): S3LeaseStore =>
      new S3LeaseStore({ ...bucket.access('fetch'), credentials: { accessKeyId, secretAccessKey: secret } })
    const name = `a+b ~ü/${randomUUID()}`
    const own = store(secretAccessKey)
    const grant = await granted(own, name)
    expect(await own.renew(grant, never)).toEqual({ renewed: true })
    const listed: string[] = []
    for await (const record of own.list?.('a+b ~ü', never) ?? []) listed.push(record.name)
    expect(listed).toEqual([name])
    const refused = store(`${secretAccessKey}x`).read(name, never)
    await expect(refused).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(refused).rejects.toThrow(/SignatureDoesNotMatch.*check the access key/)
  })
})
