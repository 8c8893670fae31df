// #region liveness
import { createServer, type Server } from 'node:http'
import { healthOf } from '@leasehold/core'
import type { LeaderElection, Schedule } from '@leasehold/recipes'

/** For the liveness probe. Readiness has an address of its own, which does not ask who leads. */
export function serveHealth(parts: Record<string, LeaderElection | Schedule>): Server {
  return createServer((request, response) => {
    if (request.url === '/readyz') return response.writeHead(200).end('ready')
    const healths = Object.entries(parts).map(([name, part]) => [name, healthOf(part)] as const)
    const isHealthy = healths.every(([, { healthy }]) => healthy)
    response.writeHead(isHealthy ? 200 : 503, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(Object.fromEntries(healths)))
  })
}
// #endregion liveness
