import { randomUUID } from 'node:crypto'
import type { Grant } from '@leasehold/core'
import type { EtcdLeaseStore } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { granted, never } from '@leasehold/testing/job-claims'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

/** Above all revisions of these tests. */
const FAR = 10n ** 12n

describeEtcd('a raised fencing token', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  const recordOf = async (name: string) =>
    JSON.parse(await server.ctl('get', `leasehold/${name}`, '--print-value-only')) as Record<string, unknown>

  const raised = async (store: EtcdLeaseStore, grant: Grant, fencingToken: bigint): Promise<Grant> => {
    expect(await store.raiseToken(grant, fencingToken, never)).toEqual({ renewed: true })
    return { ...grant, fencingToken }
  }

  // Alone, because all writes to the server count.
  it('is in the record of each grant, until the revision has passed it: then records are as before', () =>
    Scene.play(async (scene) => {
      const name = randomUUID()
      const [one, other] = [scene.store(server), scene.store(server)]
      const first = await granted(one, randomUUID(), { name })
      expect(await recordOf(name)).not.toHaveProperty('token')
      const own = await raised(one, first, first.fencingToken + 30n)
      await one.release(own, never)
      // The revision that the next store has seen is still smaller.
      const second = await granted(other, randomUUID(), { name })
      expect(second.fencingToken).toBe(own.fencingToken + 1n)
      expect(await recordOf(name)).toHaveProperty('token', String(second.fencingToken))
      for (let write = 0; write < 40; write += 1) await server.ctl('put', `other-${name}`, String(write))
      await other.release(second, never)
      const third = await granted(one, randomUUID(), { name })
      expect(third.fencingToken).toBeGreaterThan(second.fencingToken)
      expect(await recordOf(name)).not.toHaveProperty('token')
      expect((await other.read(name, never))?.fencingToken).toBe(third.fencingToken)
    }))

  describe.concurrent('', () => {
    it('is not written again by a repeated request, and metadata of the grant before it was raised is', () =>
      Scene.play(async (scene) => {
        const name = randomUUID()
        const store = scene.store(server)
        const grant = await granted(store, randomUUID(), { name, metadata: { step: '1' } })
        const own = await raised(store, grant, FAR)
        const before = await server.ctl('get', `leasehold/${name}`, '-w', 'json')
        await raised(store, grant, FAR)
        await raised(store, own, 1n)
        const revisionIn = (json: string): number =>
          (JSON.parse(json) as { kvs: [{ mod_revision: number }] }).kvs[0].mod_revision
        expect(revisionIn(await server.ctl('get', `leasehold/${name}`, '-w', 'json'))).toBe(revisionIn(before))
        expect(await store.read(name, never)).toMatchObject({ fencingToken: FAR, metadata: { step: '1' } })
      }))

    it('is refused for a grant whose record was deleted, or replaced by that of an earlier one', () =>
      Scene.play(async (scene) => {
        const name = randomUUID()
        const store = scene.store(server)
        const first = await granted(store, randomUUID(), { name })
        const copy = await server.ctl('get', `leasehold/${name}`, '--print-value-only')
        await store.release(first, never)
        const second = await granted(store, randomUUID(), { name })
        await server.ctl('put', `leasehold/${name}`, copy.trimEnd())
        expect(await store.raiseToken(second, FAR, never)).toMatchObject({ renewed: false, reason: 'taken' })
        await server.ctl('del', `leasehold/${name}`)
        expect(await store.raiseToken(second, FAR, never)).toMatchObject({ renewed: false, reason: 'taken' })
      }))

    it('is lost with the record: the next token is a revision', () =>
      Scene.play(async (scene) => {
        const name = randomUUID()
        const store = scene.store(server)
        const own = await raised(store, await granted(store, randomUUID(), { name }), FAR)
        await store.release(own, never)
        await server.ctl('del', `leasehold/${name}`)
        expect((await granted(store, randomUUID(), { name })).fencingToken).toBeLessThan(FAR)
      }))
  })
})
