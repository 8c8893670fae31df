import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConsulLeaseStore } from '@leasehold/consul'
import { type Grant, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { freePort } from '@leasehold/testing'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { hasRenewed } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { unanswered } from '../src/failure-of.js'
import { lost, Scene, sessionOf } from './support/scene.js'

/** The operations of a lease, each with its outcome. */
const operations: readonly (readonly [string, (store: ConsulLeaseStore, grant: Grant) => Promise<unknown>, object])[] =
  [
    ['renew', (store, grant) => store.renew(grant, never), { renewed: true }],
    ['update', (store, grant) => store.update(grant, { part: '2' }, never), { renewed: true }],
    ['break', (store, { name }) => store.break(name, { period: 5_000 }, never), { remaining: expect.any(Number) }],
  ]

async function granted(store: ConsulLeaseStore): Promise<Grant> {
  const outcome = await store.acquire({ name: 'job', owner: 'anna', grantId: randomUUID(), ttl: 20_000 }, never)
  if (!outcome.granted) throw new Error('refused')
  return outcome.grant
}

describeConsul('faults on the way to Consul', () => {
  describe.concurrent('an answer that is lost', { timeout: 90_000 }, () => {
    it.for(operations)('to %s: the operation can be repeated', async ([, operation, outcome]) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const store = scene.store([way])
        const grant = await granted(store)
        way.dropNextResponse()
        await operation(store, grant).catch(() => {})
        expect(await operation(store, grant)).toMatchObject(outcome)
        expect((await store.read('job', never))?.fencingToken).toBe(grant.fencingToken)
      })
    })

    it('to acquire: the same request is granted once, under one token', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const store = scene.store([way])
        const request = { name: 'job', owner: 'anna', grantId: randomUUID(), ttl: 20_000 }
        await store.read('job', never)
        way.dropResponses()
        const attempt = new AbortableCall()
        systemClock.schedule(1_500, () => attempt.abort(new Error('over')))
        await expect(store.acquire(request, attempt)).rejects.toThrow('over')
        way.heal()
        const outcome = await store.acquire(request, never)
        expect(outcome.granted).toBe(true)
        expect(await store.acquire(request, never)).toEqual(outcome)
      })
    })

    it('to release: the name is free, and the late request changes nothing for the next holder', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const store = scene.store([way])
        const grant = await granted(store)
        way.dropNextResponse()
        await store.release(grant, never).catch(() => {})
        const next = await granted(scene.store([server]))
        expect(await store.release(grant, never)).toMatchObject({ released: false, holder: { grantId: next.grantId } })
        expect(await sessionOf(server)).toBeDefined()
      })
    })
  })

  describe.concurrent('an agent', { timeout: 90_000 }, () => {
    it('that cannot be reached is skipped', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store([{ port: await freePort() }, server])
        expect((await granted(store)).name).toBe('job')
      })
    })

    it('that is silent does not hold a heartbeat up for longer than its part of the time limit', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const holder = scene.player('holder', scene.store([way, server]))
        await holder.lease.acquire()
        way.blackHole()
        await hasRenewed(holder, 4)
        expect(holder.losses).toEqual([])
        expect(holder.events).not.toContain('jeopardy')
      })
    })

    it('that is silent, alone, ends the lease in time', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const holder = scene.player('holder', scene.store([way]))
        await holder.lease.acquire()
        way.blackHole()
        await lost(holder, 'expired')
      })
    })
  })
})

describe('an answer', () => {
  it.for([
    [500, 'No cluster leader', 'unavailable'],
    [500, 'rpc error making call: Permission denied', 'unauthorised'],
    [429, 'Your IP is issuing too many concurrent connections', 'unavailable'],
    [403, 'ACL not found', 'unauthorised'],
    [400, 'Missing key name', 'configuration'],
    [301, 'Moved', 'configuration'],
    [200, 'no JSON', 'unavailable'],
  ] as const)('%i %s is %s', async ([status, text, code]) => {
    const server = createServer((_, response) => {
      response.statusCode = status
      response.end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const store = new ConsulLeaseStore({ addresses: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] })
    await expect(store.read('job', never)).rejects.toMatchObject({ code, store: 'consul', leaseName: 'job' })
    await store.close()
    server.closeAllConnections()
    server.close()
  })

  it.for(['127.0.0.1', 'localhost'])('of nobody at %s is unavailable', async (host) => {
    const store = new ConsulLeaseStore({ addresses: [`http://${host}:${await freePort()}`] })
    await expect(store.read('job', never)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cannot be reached: \w.*ECONNREFUSED.*Check the addresses/),
    })
    await store.close()
  })

  it('of nobody at any address of a host names all reasons', () => {
    const reasons = ['connect ECONNREFUSED ::1:8500', 'connect ECONNREFUSED 127.0.0.1:8500']
    const error = new AggregateError(reasons.map((reason) => Object.assign(new Error(reason), { syscall: 'connect' })))
    expect(unanswered(error).message).toContain(`cannot be reached: ${reasons.join('; ')}. Check the addresses`)
  })

  it('that is cut off says that the request may have been applied', () => {
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
    expect(unanswered(error).message).toContain('may have been applied')
  })
})
