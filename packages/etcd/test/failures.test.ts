import { randomUUID } from 'node:crypto'
import { LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import { eventually, freePort } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats } from '@leasehold/testing/players'
import { within } from '@leasehold/testing/real-time'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

describeEtcd('a full database (NOSPACE)', () => {
  it('keeps holders, frees what they release, and refuses new leases with a hint', () =>
    Scene.play(async (scene) => {
      const server = await scene.server({ args: ['--quota-backend-bytes', String(16 * 1024 * 1024)] })
      await warmUp(server)
      const [store, other] = [scene.store(server), scene.store(server)]
      const holder = scene.player('holder', store)
      await holder.lease.acquire()
      const raised = await granted(store, randomUUID(), { name: 'raised', ttl: 120_000 })
      const FAR = 10n ** 12n
      expect(await store.raiseToken(raised, FAR, never)).toEqual({ renewed: true })
      const value = 'x'.repeat(120_000)
      const fill = async (): Promise<boolean> => {
        for (let count = 0; count < 50; count += 1) await server.ctl('put', randomUUID(), value)
        return false
      }
      await eventually('the database is full', () => fill().catch((error) => /space exceeded/.test(String(error))))
      const before = heartbeats(holder)
      await eventually('heartbeats go on', async () => heartbeats(holder) > before + 1)
      expect(holder.losses).toEqual([])
      const refused = other.acquire(claimOf(randomUUID(), { name: 'new' }), never)
      await expect(refused).rejects.toThrow(/etcdctl alarm disarm/)
      await expect(refused).rejects.toThrow(LeaseUnavailableError)
      expect(await holder.lease.release()).toBe(true)
      expect((await other.read('job', never))?.state).toBe('expired')
      // A raised token stays, although no record can be written at the release.
      const again = store.raiseToken(raised, 2n * FAR, never)
      await expect(again).rejects.toThrow(/raise of lease 'raised' failed.*etcdctl alarm disarm/)
      expect(await store.release({ ...raised, fencingToken: FAR }, never)).toEqual({ released: true })
      expect(await other.read('raised', never)).toMatchObject({ state: 'expired', fencingToken: FAR })
    }))
})

describeEtcd('a store', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  describe.concurrent('', () => {
    it('settles an acquisition and a release whose answers were lost', () =>
      Scene.play(async (scene) => {
        const way = await scene.proxy(server)
        const store = scene.store(way)
        const name = randomUUID()
        await store.read(name, never)
        const player = scene.player('owner', store, { name })
        for (let round = 0; round < 4; round += 1) {
          way.dropNextResponse()
          expect(await player.lease.acquire({ wait: 8_000 })).toBe(true)
          way.dropNextResponse()
          expect(await player.lease.release()).toBe(true)
        }
        expect(await scene.store(server).read(name, never)).toMatchObject({ state: 'available' })
      }))

    it('skips a member that refuses connections, and does not wait for one that is silent', () =>
      Scene.play(async (scene) => {
        const [dead, silent] = [await scene.proxy(server), await scene.proxy(server)]
        dead.refuse()
        silent.blackHole()
        const store = scene.store(dead, silent, server)
        const name = randomUUID()
        await store.read(name, within(5_000))
        // From now on, the member that answered is the first.
        for (let count = 0; count < 20; count += 1) await store.read(name, within(1_000))
        const grant = await granted(store, randomUUID(), { name })
        expect(await store.renew(grant, within(3_000))).toEqual({ renewed: true })
      }))

    it('rejects a key of its prefix that holds other data', async () => {
      await server.ctl('put', 'leasehold/foreign', 'other data')
      await Scene.play(async (scene) => {
        const store = scene.store(server)
        const rejected = store.acquire(claimOf(randomUUID(), { name: 'foreign' }), never)
        await expect(rejected).rejects.toThrow(LeaseConfigurationError)
        await expect(rejected).rejects.toThrow(/a prefix of its own/)
      })
    })

    it('that is closed leaves the client open that it was given', () =>
      Scene.play(async (scene) => {
        const client = scene.client({ endpoints: [server.url] })
        const [one, other] = [new EtcdLeaseStore(client), new EtcdLeaseStore(client)]
        await one.read('job', never)
        await one.close()
        await expect(one.read('job', never)).rejects.toThrow(LeaseUnavailableError)
        await other.read('job', never)
        await other.close()
      }))
  })

  it('lists more names than one page has', () =>
    Scene.play(async (scene) => {
      const store = scene.store(server)
      const prefix = `${randomUUID()}/`
      const names = Array.from({ length: 620 }, (_, place) => `${prefix}${place}`)
      for (let from = 0; from < names.length; from += 20) {
        await Promise.all(
          names.slice(from, from + 20).map((name) => granted(store, randomUUID(), { name, ttl: 60_000 })),
        )
      }
      const listed: string[] = []
      for await (const { name, state } of store.list(prefix, never)) if (state === 'leased') listed.push(name)
      expect(listed.sort()).toEqual(names.sort())
    }))
})

describe('without a server,', () => {
  it('operations reject with a LeaseUnavailableError', async () => {
    const store = new EtcdLeaseStore({ endpoints: ['http://127.0.0.1:1'] })
    await expect(store.read('job', within(5_000))).rejects.toThrow(LeaseUnavailableError)
    await store.close()
  })

  it.each([
    [{ endpoints: [] }, /endpoints must be a list of texts.*: it is empty/],
    [{ endpoints: ['localhost:2379'] }, /endpoints must be URLs/],
    [{ endpoints: ['http://a:1', 'https://b:1'] }, /all of the same kind/],
    [{ username: 'app' }, /need each other/],
    [{ tls: { ca: 'x' } }, /begin the endpoints with https:/],
    [{ endpoints: ['https://a:1'], tls: { cert: 'x' } }, /both cert and key/],
  ])('%o is a LeaseConfigurationError', (options, message) => {
    expect(() => new EtcdClient(options)).toThrow(LeaseConfigurationError)
    expect(() => new EtcdClient(options)).toThrow(message)
  })
})

describe('no server', () => {
  it('is an error in one line that names the endpoint, the reason and what to check', () =>
    Scene.play(async (scene) => {
      const endpoint = `127.0.0.1:${await freePort()}`
      const store = scene.storeWith({ endpoints: [`http://${endpoint}`] })
      const failure: unknown = await store.read('job', within(10_000)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(LeaseUnavailableError)
      expect((failure as Error).message).toBe(
        `read of lease 'job' failed: No connection established. Last error: Error: connect ECONNREFUSED ${endpoint}: ` +
          'check the endpoints, and whether etcd runs there',
      )
      const listing = store.list('jobs/', within(10_000)).next()
      await expect(listing).rejects.toThrow(/^listing leases 'jobs\/…' failed: No connection established/)
    }))
})
