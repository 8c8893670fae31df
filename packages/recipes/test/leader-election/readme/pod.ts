// #region pod
import { createServer, type Server } from 'node:http'
import { healthOf } from '@leasehold/core'
import type { LeaderElection } from '@leasehold/recipes'

/** The probes of a pod. `isWarm` says whether it can serve; it does not ask who leads. */
export function serveProbes(election: LeaderElection, isWarm: () => boolean): Server {
  return createServer((request, response) => {
    if (request.url === '/readyz') return response.writeHead(isWarm() ? 200 : 503).end()
    const { healthy, reason = 'ok' } = healthOf(election)
    return response.writeHead(healthy ? 200 : 503).end(reason)
  })
}

/** On SIGTERM: another pod leads at once, and this one serves until its requests are answered. */
export async function endPod(election: LeaderElection, server: Server): Promise<void> {
  await election.stop({ transfer: 'best' })
  server.close()
}
// #endregion pod
