import { ConsulLeaseStore } from '@leasehold/consul'
import { AbortableCall } from '@leasehold/core/store'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { expect, it, onTestFinished } from 'vitest'

const call = new AbortableCall()

/** A store on a server with this shortest session, in milliseconds. */
async function storeOn(server: ConsulServer, minTtl: number): Promise<ConsulLeaseStore> {
  const store = new ConsulLeaseStore({ addresses: [server.url], minTtl })
  onTestFinished(() => store.close())
  return store
}

describeConsul('the probe of a cluster', () => {
  it('finds nothing wrong; names a shortest session that is longer than min-ttl, and rejects when no agent answers', async () => {
    const server = await ConsulServer.start()
    onTestFinished(() => server.stop())
    const fit = await storeOn(server, 10_000)
    expect((await fit.probe(call)).map(({ check, result }) => [check, result])).toEqual([
      ['leader', 'ok'],
      ['session ttl', 'ok'],
    ])
    const [, sessions] = await (await storeOn(server, 1)).probe(call)
    expect(sessions).toMatchObject({ result: 'failed', setting: 'min-ttl' })
    await server.stop()
    await expect(fit.probe(call)).rejects.toMatchObject({ code: 'unavailable' })
  })
})
