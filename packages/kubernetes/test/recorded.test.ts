import { readFileSync } from 'node:fs'
import { AbortableCall } from '@leasehold/core/store'
import { expect, it } from 'vitest'
import { ApiClient } from '../src/api/api-client.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { openStore, startServer } from './support/open-store.js'

interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly sent?: { readonly metadata: object }
  readonly status: number
  readonly got: object
}

/** Recorded of client-go 0.20.2 on kube-apiserver 1.20.2: its release was held back until this package held the Lease. */
const exchanges: readonly Exchange[] = JSON.parse(
  readFileSync(new URL('./recorded/client-go-0.20.2.json', import.meta.url), 'utf8'),
)

it('the test server answers an elector of client-go 0.20.2 as a real one did, whose late release is a conflict', async () => {
  const server = await startServer()
  const client = new ApiClient({ kubeConfig: await kubeConfigFor(server.port) })
  const call = new AbortableCall()
  let known: object = {}
  const last = exchanges.length - 1
  for (const [place, { method, path, sent, status, got }] of exchanges.entries()) {
    if (place === last) {
      server.remove([...server.kinds][0] as never, 'job')
      const store = await openStore(server.port)
      expect((await store.acquire({ name: 'job', owner: 'node', grantId: 'g', ttl: 6_000 }, call)).granted).toBe(true)
    }
    const body = sent && { ...sent, metadata: method === 'POST' ? sent.metadata : known }
    const answer = await client.send({ method, path, ...(body && { body }) }, call)
    expect(answer).toMatchObject({ status, body: got })
    if (place !== last) known = (answer.body as { metadata: object }).metadata
  }
  client.close()
})
