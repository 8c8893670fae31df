import { randomUUID } from 'node:crypto'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Answer, Method, Request } from '../src/client/api.js'
import { Scene, warmUp } from './support/scene.js'

const CROWD = 300

const RECEIVED = 'etcd_network_client_grpc_received_bytes_total'

/** Counts the requests, and holds up the writes of claims while it is stuck. */
class CountingClient extends EtcdClient {
  requests = 0
  isStuck = false

  override async request<M extends Method>(method: M, request: Request<M>, call: StoreCall): Promise<Answer<M>> {
    this.requests += 1
    const { success: ops = [] } = request as Partial<Request<'Txn'>>
    if (this.isStuck && ops.length > 0) await new Promise(() => {})
    return await super.request(method, request, call)
  }
}

describeEtcd('a crowd of claims', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  function open(scene: Scene) {
    const client = new CountingClient({ endpoints: [server.url] })
    const store = new EtcdLeaseStore(client)
    scene.atEnd(async () => {
      await store.close()
      client.close()
    })
    return { client, store }
  }

  const crowd = () => Array.from({ length: CROWD }, () => randomUUID())

  async function requestsOf(client: CountingClient, act: () => Promise<unknown>) {
    const before = { requests: client.requests, bytes: await server.metric(RECEIVED) }
    await act()
    return { requests: client.requests - before.requests, bytes: (await server.metric(RECEIVED)) - before.bytes }
  }

  it('goes to the server in few requests', () =>
    Scene.play(async (scene) => {
      const { client, store } = open(scene)
      const names = crowd()
      const { requests } = await requestsOf(client, () =>
        Promise.all(names.map((name) => granted(store, randomUUID(), { name }))),
      )
      expect(requests).toBeLessThanOrEqual(CROWD / 10)
    }))

  it('waits and is notified at the cost of a bounded number of requests and bytes', () =>
    Scene.play(async (scene) => {
      const { client, store } = open(scene)
      const holder = scene.store(server)
      const names = crowd()
      const held = await Promise.all(names.map((name) => granted(holder, randomUUID(), { name })))
      const call = new AbortableCall()
      const woken = new Set<string>()
      const waiters = names.map((name) => ({ name, grantId: randomUUID() }))
      const waiting = await requestsOf(client, async () => {
        await Promise.all(waiters.map((waiter) => waits(store, waiter)))
        for (const { name, grantId } of waiters) {
          void (async () => {
            for await (const _ of store.watch(name, call, grantId)) woken.add(grantId)
          })()
        }
        const watchers = 'etcd_debugging_mvcc_watcher_total'
        await eventually('all watch', async () => (await server.metric(watchers)) >= CROWD)
      })
      expect(waiting.requests).toBeLessThanOrEqual(CROWD / 4)
      expect(waiting.bytes).toBeLessThanOrEqual(CROWD * 2_000)
      expect(woken.size).toBe(0)
      const notified = await requestsOf(client, async () => {
        await releaseAll(holder, held)
        await eventually('all are woken', async () => woken.size === CROWD)
        await Promise.all(waiters.map(({ name, grantId }) => granted(store, grantId, { name, queue: true })))
      })
      call.abort()
      expect(notified.requests).toBeLessThanOrEqual(CROWD / 2)
    }))

  it('shares one server lease for its places in line, and repeats a claim without writes', () =>
    Scene.play(async (scene) => {
      const own = await scene.server()
      const [holder, store] = [scene.store(own), scene.store(own)]
      const waiters = crowd().map((name) => ({ name, grantId: randomUUID() }))
      await Promise.all(waiters.map(({ name }) => granted(holder, randomUUID(), { name })))
      await Promise.all(waiters.map((waiter) => waits(store, waiter)))
      expect(await own.ctl('lease', 'list')).toMatch(/found 2 leases/)
      const before = await own.metric('etcd_server_proposals_applied_total')
      await Promise.all(waiters.map((waiter) => waits(store, waiter)))
      expect((await own.metric('etcd_server_proposals_applied_total')) - before).toBe(0)
    }))

  it('does not hold up the heartbeats of its process', () =>
    Scene.play(async (scene) => {
      const { client, store } = open(scene)
      const grants = await Promise.all(crowd().map((name) => granted(store, randomUUID(), { name, ttl: 60_000 })))
      client.isStuck = true
      for (const name of crowd()) store.acquire(claimOf(randomUUID(), { name }), never).catch(() => {})
      expect(await store.renewMany(grants, never)).toEqual(grants.map(() => ({ renewed: true })))
    }))
})

async function waits(store: LeaseStore, waiter: { readonly name: string; readonly grantId: string }): Promise<void> {
  const outcome = await store.acquire(claimOf(waiter.grantId, { name: waiter.name, queue: true }), never)
  expect(outcome.granted).toBe(false)
}

async function releaseAll(store: LeaseStore, grants: readonly Grant[]): Promise<void> {
  await Promise.all(grants.map((grant) => store.release(grant, never)))
}
