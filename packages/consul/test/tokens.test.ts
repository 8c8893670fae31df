import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConsulGuard, type ConsulLeaseStore } from '@leasehold/consul'
import { type Grant, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { temporaryFolder } from '@leasehold/testing'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

async function granted(store: ConsulLeaseStore, name = 'job', ttl = 20_000): Promise<Grant> {
  const outcome = await store.acquire({ name, owner: 'anna', grantId: randomUUID(), ttl }, never)
  if (!outcome.granted) throw new Error('refused')
  return outcome.grant
}

async function lockValue(server: ConsulServer): Promise<unknown> {
  const [{ Value }] = (await server.request('GET', '/kv/leasehold/job')) as [{ Value: string }]
  return JSON.parse(Buffer.from(Value, 'base64').toString())
}

describeConsul('fencing tokens', () => {
  describe.concurrent('of Consul', { timeout: 90_000 }, () => {
    it('are the ModifyIndex of the write that granted the lease, also after updates', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = [scene.store([server]), scene.store([server])]
        const grant = await granted(store)
        const [entry] = (await server.request('GET', '/kv/leasehold/job')) as [{ ModifyIndex: number }]
        expect(grant.fencingToken).toBe(BigInt(entry.ModifyIndex))
        await store.update(grant, { part: '2' }, never)
        await other.update(grant, { part: '3' }, never)
        for (const reader of [store, other]) {
          expect((await reader.read('job', never))?.fencingToken).toBe(grant.fencingToken)
        }
      })
    })

    it('grow over a restore of a snapshot into the same servers', async (test) => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ durable: true })
        const store = scene.store([server])
        await store.release(await granted(store), never)
        const snapshot = join(temporaryFolder(test), 'snapshot')
        await server.command('snapshot', 'save', snapshot)
        let last = 0n
        for (let round = 0; round < 3; round += 1) {
          const grant = await granted(store)
          last = grant.fencingToken
          await store.release(grant, never)
        }
        await server.command('snapshot', 'restore', snapshot)
        expect((await granted(store)).fencingToken).toBeGreaterThan(last)
      })
    })

    it('may repeat after a restore of a snapshot into other servers: give them another prefix and new fences', async (test) => {
      await Scene.play(async (scene) => {
        const [server, fresh] = [await scene.server({ durable: true }), await scene.server({ durable: true })]
        const store = scene.store([server])
        await store.release(await granted(store), never)
        const snapshot = join(temporaryFolder(test), 'snapshot')
        await server.command('snapshot', 'save', snapshot)
        let last = 0n
        for (let round = 0; round < 50; round += 1) {
          const grant = await granted(store)
          last = grant.fencingToken
          await store.release(grant, never)
        }
        await fresh.command('snapshot', 'restore', snapshot)
        expect((await granted(scene.store([fresh]))).fencingToken).toBeLessThan(last)
      })
    })

    it('that were raised are in the value of each grant, until the index has passed them: then values are as before', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = [scene.store([server]), scene.store([server])]
        const first = await granted(store)
        expect(await lockValue(server)).not.toHaveProperty('token')
        const fencingToken = first.fencingToken + 500n
        expect(await store.raiseToken(first, fencingToken, never)).toEqual({ renewed: true })
        expect((await other.read('job', never))?.fencingToken).toBe(fencingToken)
        await store.release({ ...first, fencingToken }, never)
        const second = await granted(other)
        expect(second.fencingToken).toBe(fencingToken + 1n)
        expect(await lockValue(server)).toHaveProperty('token', String(second.fencingToken))
        while ((await server.raftIndex()) < second.fencingToken) {
          await Promise.all(Array.from({ length: 50 }, (_, place) => server.request('PUT', `/kv/other/${place}`)))
        }
        await other.release(second, never)
        const third = await granted(store)
        expect(third.fencingToken).toBeGreaterThan(second.fencingToken)
        expect(await lockValue(server)).not.toHaveProperty('token')
      })
    })

    it('that another process has raised are shown, and raising them to less changes nothing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = [scene.store([server]), scene.store([server])]
        const grant = await granted(store)
        const FAR = 10n ** 12n
        expect(await other.raiseToken(grant, FAR, never)).toEqual({ renewed: true })
        expect((await store.read('job', never))?.fencingToken).toBe(FAR)
        expect(await store.raiseToken({ ...grant, fencingToken: FAR }, FAR - 1n, never)).toEqual({ renewed: true })
        for (const reader of [store, other]) expect((await reader.read('job', never))?.fencingToken).toBe(FAR)
      })
    })

    it('guard a transaction, together with the session of the grant', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store([server])
        const guard = new ConsulGuard({ addresses: [server.url] })
        scene.atEnd(() => guard.close())
        const grant = await granted(store)
        const isHeld = store.heldCheck(grant)
        if (isHeld === undefined) throw new Error('the grant is of this store')
        const entry = { KV: { Verb: 'set', Key: 'ledger/1', Value: Buffer.from('entry').toString('base64') } }
        await guard.transact('ledger', grant.fencingToken, [isHeld, entry])
        await store.release(grant, never)
        expect(store.heldCheck(grant)).toBeUndefined()
        await expect(guard.transact('ledger', grant.fencingToken, [isHeld, entry])).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringContaining('operation 0'),
        })
        const tooMany = Array.from({ length: 63 }, () => entry)
        await expect(guard.transact('ledger', grant.fencingToken, tooMany)).rejects.toMatchObject({
          code: 'configuration',
        })
      })
    })
  })

  describe.concurrent('heartbeats', { timeout: 90_000 }, () => {
    it('are no writes of the Raft log, and neither are refused requests', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store([server])
        const grants = await Promise.all(Array.from({ length: 100 }, (_, place) => granted(store, `job-${place}`)))
        const before = await server.raftIndex()
        for (let beat = 0; beat < 10; beat += 1) {
          expect(await store.renewMany(grants, never)).toEqual(grants.map(() => ({ renewed: true })))
        }
        expect(
          await scene.store([server]).acquire({ ...(grants[0] as Grant), grantId: randomUUID() }, never),
        ).toMatchObject({
          granted: false,
        })
        // The server writes an entry of its own now and then.
        expect((await server.raftIndex()) - before).toBeLessThan(5)
      })
    })

    it('of many leases have an outcome for each of them', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store([server])
        const grants = await Promise.all(Array.from({ length: 130 }, (_, place) => granted(store, `job-${place}`)))
        await server.request('DELETE', '/kv/leasehold/job-7')
        await server.request('DELETE', '/kv/leasehold/job-129')
        await store.break('job-64', { period: 0 }, never)
        const outcomes = await store.renewMany(grants, never)
        const refused = outcomes.flatMap((outcome, place) =>
          'renewed' in outcome && !outcome.renewed ? [[place, outcome.reason]] : [],
        )
        expect(refused).toEqual([
          [7, 'deleted'],
          [64, 'broken'],
          [129, 'deleted'],
        ])
        expect(outcomes.filter((outcome) => 'renewed' in outcome && outcome.renewed)).toHaveLength(127)
      })
    })
  })

  describe.concurrent('a lease without heartbeats expires, although its session lives by those of another lease:', {
    timeout: 90_000,
  }, () => {
    const ttl = 4_000

    /** Renews the lease until another owner is granted the name. */
    async function grantedMeanwhile(store: ConsulLeaseStore, grant: Grant, other: ConsulLeaseStore): Promise<Grant> {
      for (;;) {
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
        const outcome = await other.acquire({ name: 'silent', owner: 'other', grantId: randomUUID(), ttl }, never)
        if (outcome.granted) return outcome.grant
        await sleep(500)
      }
    }

    it('one that is held', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = [scene.store([server]), scene.store([server])]
        // On a slow machine, the first of the grants may be much older than the second.
        const begun = systemClock.now()
        const [silent, renewed] = [await granted(store, 'silent', ttl), await granted(store, 'renewed', ttl)]
        const next = await grantedMeanwhile(store, renewed, other)
        expect(systemClock.now() - begun).toBeGreaterThan(ttl - 500)
        expect(next.fencingToken).toBeGreaterThan(silent.fencingToken)
        expect(await store.renew(silent, never)).toMatchObject({ renewed: false, reason: 'taken' })
      })
    })

    it('one whose grant the process never learned of', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const [store, other] = [scene.store([way]), scene.store([server])]
        const renewed = await granted(store, 'renewed', ttl)
        const attempt = new AbortableCall()
        const request = { name: 'silent', owner: 'anna', grantId: randomUUID(), ttl }
        // The read is answered in time, the write is not.
        way.slowDown(1_000)
        const lostAnswer = store.acquire(request, attempt)
        systemClock.schedule(1_600, () => attempt.abort(new Error('over')))
        await expect(lostAnswer).rejects.toThrow('over')
        way.slowDown(0)
        expect(await other.read('silent', never)).toMatchObject({ state: 'leased', owner: 'anna' })
        await grantedMeanwhile(store, renewed, other)
      })
    })

    it('but not one that its adopter, in another process, keeps under the same grant id', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = [scene.store([server]), scene.store([server])]
        const renewed = await granted(store, 'renewed', ttl)
        const to = { grantId: randomUUID(), owner: 'adopter' }
        await store.change(await granted(store, 'silent', ttl), to, never)
        const adopted = await other.acquire({ name: 'silent', ...to, ttl }, never)
        if (!adopted.granted) throw new Error('refused')
        for (let beat = 0; beat < 12; beat += 1) {
          await sleep(ttl / 8)
          expect(await store.renew(renewed, never)).toEqual({ renewed: true })
          expect(await other.renew(adopted.grant, never)).toEqual({ renewed: true })
        }
      })
    })
  })

  it('a process has one session for each ttl', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const store = scene.store([server])
      for (const ttl of [10_000, 20_000]) {
        for (const name of ['one', 'other']) {
          await store.acquire({ name: `${name}-${ttl}`, owner: 'anna', grantId: randomUUID(), ttl }, never)
        }
      }
      const sessions = (await server.request('GET', '/session/list')) as { TTL: string; Behavior: string }[]
      expect(sessions.map(({ TTL, Behavior }) => `${TTL} ${Behavior}`).sort()).toEqual([
        '10000ms release',
        '20000ms release',
      ])
    })
  })

  it('closing a store ends the sessions that hold nothing', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const [idle, busy] = [scene.store([server]), scene.store([server])]
      await idle.release(await granted(idle, 'idle'), never)
      await granted(busy, 'busy')
      await idle.close()
      await busy.close()
      expect(await server.request('GET', '/session/list')).toHaveLength(1)
    })
  })
})
