import { turnsOf } from '@leasehold/testing'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import Consul from 'consul'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportOnce } from './readme/nightly-report.js'
import { reportWith } from './readme/own-client.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeConsul('the examples of the documents', () => {
  let server: ConsulServer

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(() => server.stop())

  it('gives two processes with the first program of the guide their turns', async () => {
    expect(new Set(await turnsOf(firstLease, { CONSUL_URL: server.url })).size).toBe(2)
  })

  it('writes under the lease and the guard', async () => {
    for (const report of ['first', 'second']) await reportOnce([server.url], async () => report)
    const [entry] = (await server.request('GET', '/kv/reports/latest')) as [{ Value: string }]
    expect(Buffer.from(entry.Value, 'base64').toString()).toBe('second')
  })

  it('uses the Consul object of the service', async () => {
    const consul = new Consul({ host: '127.0.0.1', port: server.port })
    await reportWith(consul, async () => 'third')
    expect(await consul.kv.get('reports/latest')).toMatchObject({ Value: 'third' })
    consul.destroy()
  })
})
