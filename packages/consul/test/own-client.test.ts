import { randomUUID } from 'node:crypto'
import { Agent as HttpsAgent } from 'node:https'
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import Consul from 'consul'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onServer } from './support/law-subjects.js'
import { Scene } from './support/scene.js'

const request = (grantId: string) => ({ name: 'job', owner: 'anna', grantId, ttl: 10_000 })

/** A `Consul` object for a server. Its types leave out the TLS options that it passes on. */
function consulFor(url: string, options: object = {}): Consul {
  const { hostname: host, port, protocol } = new URL(url)
  return new Consul({ host, port: Number(port), secure: protocol === 'https:', ...options })
}

describeConsul("the user's client, on", () => {
  let server: ConsulServer
  let consul: Consul

  beforeAll(async () => {
    server = await ConsulServer.start()
    consul = consulFor(server.url)
  })

  afterAll(async () => {
    consul.destroy()
    await server.stop()
  })

  describeStoreLaws(onServer(() => server, { name: 'Consul object', cluster: () => ({ consul }) }))

  it('serves a guard, and its connections stay open when guard and store are closed', async () => {
    const own = consulFor(server.url)
    const guard = new ConsulGuard({ consul: own })
    const key = `guarded/${randomUUID()}`
    await guard.write(key, 5n, 'by the first')
    await guard.close()
    await new ConsulLeaseStore({ consul: own }).close()
    const { agent } = (own as unknown as { _opts: { agent: { freeSockets: object } } })._opts
    const kept = Object.values(agent.freeSockets).flat() as { destroyed: boolean }[]
    expect(kept.map(({ destroyed }) => destroyed)).toEqual([false])
    expect(await own.kv.get(key)).toMatchObject({ Value: 'by the first' })
    own.destroy()
  })
})

describeConsul("the user's client with access of its own, on", () => {
  it('has its token and its certificates, and the token as it is at each request', () =>
    Scene.play(async (scene) => {
      const master = randomUUID()
      const acl = { enabled: true, default_policy: 'deny', tokens: { master, agent: master } }
      const server = await scene.server({ config: { acl }, token: master, tls: true })
      const agent = new HttpsAgent({ keepAlive: true, ca: server.ca })
      scene.atEnd(async () => agent.destroy())
      const consul = consulFor(server.url, { agent, defaults: { token: master } })
      const store = new ConsulLeaseStore({ consul })
      scene.atEnd(() => store.close())
      expect((await store.acquire(request('one'), never)).granted).toBe(true)
      Object.assign((consul as unknown as { _defaults: object })._defaults, { token: randomUUID() })
      await expect(store.read('job', never)).rejects.toMatchObject({ code: 'unauthorised' })
      const stranger = new ConsulLeaseStore({ consul: consulFor(server.url, { defaults: { token: master } }) })
      scene.atEnd(() => stranger.close())
      await expect(stranger.read('job', never)).rejects.toMatchObject({ code: 'unavailable' })
    }))
})
