import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { ConsulGuard } from '@leasehold/consul'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onServer } from './support/law-subjects.js'

describeConsul("the user's agent of HTTP, on", () => {
  let server: ConsulServer
  const agent = new Agent({ keepAlive: true })

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(async () => {
    agent.destroy()
    await server.stop()
  })

  describeStoreLaws(onServer(() => server, { name: 'agent of HTTP', cluster: (url) => ({ addresses: [url], agent }) }))

  it('serves several guards, and stays open when one of them is closed', async () => {
    const open = () => new ConsulGuard({ addresses: [server.url], agent })
    const [first, second] = [open(), open()]
    const key = `guarded/${randomUUID()}`
    await first.write(key, 5n, 'by the first')
    await first.close()
    const kept = Object.values(agent.freeSockets).flat()
    expect(kept.filter((socket) => socket?.destroyed)).toEqual([])
    expect(kept.length).toBeGreaterThan(0)
    await expect(second.write(key, 4n, 'late')).rejects.toThrow('is older than 5')
    await second.close()
  })
})
