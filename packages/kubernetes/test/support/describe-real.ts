import { describeUnless } from '@leasehold/testing/describe-unless'
import { KubeApiServer, STARTING, whyNoKubeApiServer } from '@leasehold/testing/kube-api-server'
import { afterAll, beforeAll } from 'vitest'

/** Tests on a real API server of their own; skipped where there is none. */
export function describeReal(tests: (server: () => KubeApiServer) => void): void {
  describeUnless(whyNoKubeApiServer, 'a real API server:', () => {
    let server: KubeApiServer

    beforeAll(async () => {
      server = await KubeApiServer.start()
    }, STARTING)

    afterAll(() => server.stop())

    tests(() => server)
  })
}
