import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { subjectOver, watchLaws } from '../support/law-subjects.js'
import { RealApiServer, STARTING, whyNoRealServer } from '../support/real-api-server.js'

let server: RealApiServer

if (whyNoRealServer === undefined) {
  beforeAll(async () => {
    server = await RealApiServer.start()
  }, STARTING)

  afterAll(async () => {
    await server.stop()
  })

  const place = {
    port: () => server.port,
    ca: () => server.ca(),
    remove: (name: string) => server.ask('DELETE', `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`),
  }
  // Custom resources with an empty string, which is a free lease, are refused by the build that CI has.
  const inVirtualTime = subjectOver(place, 'lease', 'virtual', 'a real API server')
  describeStoreLaws(inVirtualTime)
  describeLeaseLaws(leasesOver(inVirtualTime))
  describeStoreLaws(subjectOver(place, 'lease', 'real', 'a real API server'), watchLaws)
} else {
  describe('on a real API server', () => {
    it.skip(`the laws: ${whyNoRealServer}`, () => {})
  })
}
