// #region hono
import { type ServerType, serve } from '@hono/node-server'
import type { Held } from '@leasehold/core'
import { Hono } from 'hono'
import { healthReport } from './health-report.js'
import type { Parts } from './parts.js'

export function serveWithHono(parts: Parts, work: (held: Held) => Promise<object>, port: number): ServerType {
  const app = new Hono()
  app.get('/healthz', (context) => {
    const { status, body } = healthReport(parts)
    return context.json(body, status)
  })
  app.get('/leader', async (context) => context.json({ owner: (await parts.election.leader())?.owner }))
  app.post('/accounts/:id', async (context) => context.json(await parts.withAccount(context.req.param('id'), work)))

  return serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => parts.start())
}
// #endregion hono
