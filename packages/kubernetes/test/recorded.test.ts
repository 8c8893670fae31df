import { readFileSync } from 'node:fs'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { ApiClient } from '../src/api/api-client.js'
import { isKubernetesObject, type ObjectMetadata } from '../src/kubernetes-object.js'
import { leases } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly sent?: { readonly metadata: object }
  readonly status: number
  readonly got: object
}

/**
 * Recorded of `testing/client-go` (client-go 0.20.2, `-record`) on kube-apiserver 1.20.2. The last one is its release, which was held
 * back until this package held the Lease.
 */
const exchanges: readonly Exchange[] = JSON.parse(
  readFileSync(new URL('./recorded/client-go-0.20.2.json', import.meta.url), 'utf8'),
)

it('the test server answers an elector of client-go 0.20.2 as a real one did, and its release after a takeover with 409', async () => {
  const server = await startServer()
  const clock = new VirtualClock()
  const store = await openStore(server.port, { clock })
  const client = new ApiClient({ kubeConfig: await kubeConfigFor(server.port) })
  onTestFinished(() => client.close())
  /** As its sender knows it: with the version of the last answer. */
  let known: ObjectMetadata | undefined
  for (const [place, { method, path, sent, status, got }] of exchanges.entries()) {
    if (place === exchanges.length - 1) {
      await store.read('job', call)
      clock.block(10_000)
      await granted(store, { owner: 'node' })
    }
    const body = sent && { ...sent, metadata: known ?? sent.metadata }
    const answer = await client.send({ method, path, ...(body && { body }) }, call)
    expect(answer).toMatchObject({ status, body: got })
    if (isKubernetesObject(answer.body)) known = answer.body.metadata
  }
  expect(server.get(leases, 'job')?.spec?.holderIdentity).toMatch(/^node_/)
})
