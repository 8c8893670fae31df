import { afterAll, beforeAll, describe, it } from 'vitest'
import { elect } from '../support/elect.js'
import { RealApiServer, STARTING, whyNoRealServer } from '../support/real-api-server.js'

describe.skipIf(whyNoRealServer !== undefined)(`on a real API server, ${whyNoRealServer ?? 'which is here'}:`, () => {
  let server: RealApiServer

  beforeAll(async () => {
    server = await RealApiServer.start()
  }, STARTING)

  afterAll(() => server.stop())

  it('two electors come through ten idle durations, a crash and a graceful stop', { timeout: 180_000 }, async () => {
    const { port } = server
    await elect({ port, ca: server.ca(), layout: 'lease', tokenOf: () => 'admin' }, () => () => {})
  })
})
