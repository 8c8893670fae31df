import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportOnce } from './readme/nightly-report.js'

describeConsul('the example of the README', () => {
  let server: ConsulServer

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(() => server.stop())

  it('writes under the lease and the guard', async () => {
    for (const report of ['first', 'second']) await reportOnce([server.url], async () => report)
    const [entry] = (await server.request('GET', '/kv/reports/latest')) as [{ Value: string }]
    expect(Buffer.from(entry.Value, 'base64').toString()).toBe('second')
  })
})
