import { afterAll, beforeAll, describe } from 'vitest'
import { RealApiServer, STARTING, whyNoRealServer } from './real-api-server.js'

/** Tests on a real API server of their own; skipped, with the reason in their name, where there is none. */
export function describeReal(tests: (server: () => RealApiServer) => void): void {
  describe.skipIf(whyNoRealServer !== undefined)(`a real API server, ${whyNoRealServer ?? 'which is here'}:`, () => {
    let server: RealApiServer

    beforeAll(async () => {
      server = await RealApiServer.start()
    }, STARTING)

    afterAll(() => server.stop())

    tests(() => server)
  })
}
