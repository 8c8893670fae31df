// @ts-check
/** @import { Service } from './contract.js' */
import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Answers the probes. `/readyz` does not ask who holds the lease: if only the holder was ready, a rolling update would wait
 * for the new process, which waits for the lease of the old one. Rejects if the port is in use.
 *
 * @param {string} port
 */
export async function serveProbes(port) {
  /** @type {{ service?: Service, isStopping: boolean }} */
  const state = { isStopping: false }

  /** @param {string | undefined} path */
  function answerTo(path) {
    if (path === '/healthz') {
      const { healthy, reason } = state.service?.health() ?? { healthy: true, reason: 'starting' }
      return { status: healthy ? 200 : 503, text: reason ?? 'healthy' }
    }
    if (path !== '/readyz') return { status: 404, text: 'ask for /healthz or /readyz' }
    if (state.service === undefined) return { status: 503, text: 'starting' }
    return state.isStopping ? { status: 503, text: 'stopping' } : { status: 200, text: 'ready' }
  }

  const server = createServer((request, response) => {
    const { status, text } = answerTo(request.url)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`)
  })
  server.listen(Number(port))
  await once(server, 'listening')
  return state
}
