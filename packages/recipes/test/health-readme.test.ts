import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { serveHealth } from './readme/health.js'

it('the example of the guide answers the probes of a standby, and of a candidate whose store is down', async () => {
  let isDown = false
  const plan = () => (isDown ? ({ kind: 'fail-before' } as const) : undefined)
  const store = new FaultyStore(new MemoryLeaseStore(), { plan })
  const options = { name: 'job', heartbeatTimeout: 300, operationTimeout: 50, logger: silentLogger }
  await using leader = new LeaderElection(store, options)
  await using standby = new LeaderElection(store, options)
  for (const election of [leader, standby]) election.start()
  const server = serveHealth({ election: standby }).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const ask = (path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    const healthy = await ask('/healthz')
    expect(healthy.status).toBe(200)
    expect(await healthy.json()).toMatchObject({ election: { healthy: true, details: { isLeader: false } } })
    isDown = true
    await expect.poll(async () => (await ask('/healthz')).status, { timeout: 20_000 }).toBe(503)
    // A process that cannot lead can still serve.
    expect((await ask('/readyz')).status).toBe(200)
    isDown = false
    await expect.poll(async () => (await ask('/healthz')).status, { timeout: 20_000 }).toBe(200)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
