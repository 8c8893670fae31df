import { describeUnless } from '@leasehold/testing/describe-unless'
import { afterAll, beforeAll } from 'vitest'
import { RealApiServer, STARTING, whyNoRealServer } from './real-api-server.js'

/** Tests on a real API server of their own; skipped where there is none. */
export function describeReal(tests: (server: () => RealApiServer) => void): void {
  describeUnless(whyNoRealServer, 'a real API server:', () => {
    let server: RealApiServer

    beforeAll(async () => {
      server = await RealApiServer.start()
    }, STARTING)

    afterAll(() => server.stop())

    tests(() => server)
  })
}
