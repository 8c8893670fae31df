// #region express
import type { Server } from 'node:http'
import type { Held } from '@leasehold/core'
import express from 'express'
import { healthReport } from './health-report.js'
import type { Parts } from './parts.js'

export function serveWithExpress(parts: Parts, work: (held: Held) => Promise<object>, port: number): Server {
  const app = express()
  app.get('/healthz', (_request, response) => {
    const { status, body } = healthReport(parts)
    response.status(status).json(body)
  })
  app.get('/leader', async (_request, response) => {
    response.json({ owner: (await parts.election.leader())?.owner })
  })
  app.post('/accounts/:id', async (request, response) => {
    response.json(await parts.withAccount(request.params.id, work))
  })

  const server = app.listen(port, '127.0.0.1')
  // Not in the callback of `listen`: Express 5 calls it with an error, too, if the port is in use.
  server.once('listening', () => parts.start())
  return server
}
// #endregion express
