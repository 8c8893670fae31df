import { afterAll, beforeAll, describe } from 'vitest'
import { RealApiServer, STARTING, whyNoRealServer } from '../support/real-api-server.js'
import { describeWire } from '../support/wire.js'

describe.skipIf(whyNoRealServer !== undefined)(`a real API server, ${whyNoRealServer ?? 'which is here'}:`, () => {
  let server: RealApiServer

  beforeAll(async () => {
    server = await RealApiServer.start()
  }, STARTING)

  afterAll(() => server.stop())

  describeWire({ port: () => server.port })
})
