import { randomUUID } from 'node:crypto'
import { LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { NatsGuard } from '@leasehold/nats'
import { eventually } from '@leasehold/testing'
import { describeNats } from '@leasehold/testing/describe-nats'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { NatsServer } from '@leasehold/testing/nats-server'
import { hasRenewed } from '@leasehold/testing/players'
import { passed, within } from '@leasehold/testing/real-time'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene } from './support/scene.js'

describeNats('a store', () => {
  let server: NatsServer

  beforeAll(async () => {
    server = await NatsServer.start()
  })

  afterAll(() => server.stop())

  describe.concurrent('', () => {
    it('rejects a request at once when the connection breaks, and works when it is there again', ({ expect }) =>
      Scene.play(async (scene) => {
        const proxy = await scene.proxy(server)
        const connection = await scene.connect(`127.0.0.1:${proxy.port}`, { ignoreClusterUpdates: true })
        const store = scene.store(connection, { bucket: randomUUID() })
        const grant = await granted(store, 'first')
        proxy.blackHole()
        const renewing = store.renew(grant, never).catch((error: Error) => error)
        await passed(100)
        await proxy.close()
        expect(await renewing).toBeInstanceOf(LeaseUnavailableError)
        expect(await renewing).toMatchObject({ message: expect.stringContaining('the connection broke before') })
      }))

    it('waits for the connection within the limit of the call, and holds its lease over the break', ({ expect }) =>
      Scene.play(async (scene) => {
        const own = await scene.server()
        const store = scene.store(await scene.connect(own.url))
        const holder = scene.player('holder', store)
        expect(await holder.lease.acquire()).toBe(true)
        await own.restart()
        await hasRenewed(holder, 2)
        await own.kill()
        // Until the client has noticed the end, a request rejects with that.
        await eventually('a request waits', async () => {
          const error = await store.read('job', within(300)).catch((reason: Error) => reason)
          return error instanceof Error && error.message.includes('not within 300 ms')
        })
        await own.start()
        await hasRenewed(holder, 2)
        expect(holder.losses).toEqual([])
        own.freeze()
        await passed(3_000)
        own.thaw()
        await hasRenewed(holder, 2)
        expect(holder.losses).toEqual([])
      }))

    it("over a user's connection that was closed is a LeaseUnavailableError", ({ expect }) =>
      Scene.play(async (scene) => {
        const connection = await scene.connect(server.url)
        const store = scene.store(connection, { bucket: randomUUID() })
        await granted(store, 'first')
        await connection.close()
        await expect(store.acquire(claimOf('second'), never)).rejects.toThrow(LeaseUnavailableError)
      }))

    it('judges a dead holder at one look, and a live one never', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const connection = await scene.connect(server.url)
        const look = async (ttl: number, clockDifference: number) => {
          const store = scene.store(connection, { bucket, clockDifference })
          return (await store.acquire(claimOf(randomUUID(), { name: `of ${ttl}`, ttl }), never)).granted
        }
        const holder = scene.store(connection, { bucket })
        for (const ttl of [1_000, 5_000]) await granted(holder, 'dead', { name: `of ${ttl}`, ttl })
        expect(await look(1_000, 0)).toBe(false)
        await passed(1_100)
        expect(await look(1_000, 2_000)).toBe(false)
        expect(await look(1_000, 0)).toBe(true)
        expect(await look(5_000, 0)).toBe(false)
      }))

    it('removes the consumer of a waiter when it has ended', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const connection = await scene.connect(server.url)
        const store = scene.store(connection, { bucket })
        await granted(store, 'first')
        const kv = await new Kvm(connection).open(bucket)
        const consumers = async () =>
          ((await kv.status()) as { streamInfo?: { state: { consumer_count: number } } }).streamInfo?.state
            .consumer_count
        const waiter = scene.player('waiter', store)
        const waiting = waiter.lease.acquire({ wait: 2_000 })
        await eventually('there is a consumer', async () => (await consumers()) === 1)
        expect(await waiting).toBe(false)
        await eventually('there is none', async () => (await consumers()) === 0)
      }))
  })
})

describeNats('a guard', () => {
  it('lets one of many writers win each round, and loses no write', ({ expect }) =>
    Scene.play(async (scene) => {
      const server = await scene.server()
      const connection = await scene.connect(server.url)
      const kv = await new Kvm(connection).create('data')
      const guard = new NatsGuard(connection, { bucket: 'data' })
      const add = (value: Uint8Array | undefined) => String(Number(Buffer.from(value ?? []).toString()) + 1)
      await Promise.all([1n, 1n, 1n].map((token) => guard.transact('count', token, add)))
      expect((await kv.get('count'))?.string()).toBe('3')
      await guard.delete('count', 5n)
      expect((await kv.get('count'))?.operation).toBe('DEL')
      await expect(guard.write('count', 4n, 'late')).rejects.toThrow(LeaseLostError)
      await guard.write('count', 5n, 'again')
      expect((await kv.get('count'))?.string()).toBe('again')
      for (const key of ['.a', 'a..b', 'a.', 'a b', '*', 'ü']) {
        await expect(guard.write(key, 1n, 'v')).rejects.toThrow('a key of a bucket')
      }
      await guard.write('a.b/c=d_e-f', 1n, 'v')
    }))
})
