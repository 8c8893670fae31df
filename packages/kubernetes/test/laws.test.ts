import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import type { LayoutName } from '../src/kubernetes-options.js'
import { akkaLeases, leases, pekkoLeases, TestApiServer } from './support/api-server/test-api-server.js'
import { inPod, stateLaws, subjectOver, watchLaws } from './support/law-subjects.js'

const kinds = { lease: leases, akka: akkaLeases, pekko: pekkoLeases }
let server: TestApiServer

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(async () => {
  await server.stop()
})

for (const layout of ['lease', 'akka', 'pekko'] satisfies LayoutName[]) {
  const remove = (name: string): void => server.remove(kinds[layout], name)
  const copy = async (name: string) => {
    const { metadata, ...rest } = server.get(kinds[layout], name) ?? { metadata: {} }
    // A write gives the object a new version.
    const { annotations, labels } = metadata as { annotations?: object; labels?: object }
    return () => server.plant(kinds[layout], name, structuredClone({ ...rest, metadata: { annotations, labels } }))
  }
  const restart = async (): Promise<void> => {
    await server.goAway()
    await server.comeBack()
  }
  const place = { port: () => server.port, remove, copy, restart }
  // The laws advance the clocks of the clients; the server's clock does not matter.
  const inVirtualTime = subjectOver(place, layout, 'virtual')
  describeStoreLaws(inVirtualTime, stateLaws)
  describeLeaseLaws(leasesOver(inVirtualTime))
  describeStoreLaws(subjectOver(place, layout, 'real'), watchLaws)
  if (layout !== 'lease') continue
  // Only the connection differs.
  const pod = inPod(place)
  describeStoreLaws(subjectOver(pod, layout, 'virtual'), stateLaws)
  describeStoreLaws(subjectOver(pod, layout, 'real'), watchLaws)
}
