// #region http
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Held } from '@leasehold/core'
import { healthReport } from './health-report.js'
import type { Parts } from './parts.js'

export function serveWithHttp(parts: Parts, work: (held: Held) => Promise<object>, port: number): Server {
  const answer = async (method: string, path: string): Promise<{ status: number; body: object }> => {
    if (path === '/healthz') return healthReport(parts)
    if (path === '/leader') return { status: 200, body: { owner: (await parts.election.leader())?.owner } }
    const [, id] = /^\/accounts\/(\w+)$/.exec(path) ?? []
    if (method === 'POST' && id !== undefined) return { status: 200, body: await parts.withAccount(id, work) }
    return { status: 404, body: { error: 'not found' } }
  }
  const server = createServer((request, response) => {
    answer(request.method ?? '', request.url ?? '').then(
      ({ status, body }) => reply(response, status, body),
      // Without this, a request whose lease is held elsewhere would end the process.
      (error: Error) => reply(response, 503, { error: error.message }),
    )
  })
  server.once('listening', () => parts.start())
  return server.listen(port, '127.0.0.1')
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
// #endregion http
