// @ts-check
/** @import { Service } from './contract.js' */
import { createServer } from 'node:http'

/**
 * Answers the probes. `/readyz` does not ask who holds the lease: if only the holder was ready, a rolling update would wait
 * for the new process, which waits for the lease of the old one.
 *
 * @param {Pick<Service, 'health'>} service
 * @param {number} port
 */
export function serveProbes(service, port) {
  const state = { isStopping: false }
  const server = createServer((request, response) => {
    const { healthy, reason } = service.health()
    if (request.url === '/healthz') response.writeHead(healthy ? 200 : 503).end(`${reason ?? 'healthy'}\n`)
    else if (request.url !== '/readyz') response.writeHead(404).end()
    else response.writeHead(state.isStopping ? 503 : 200).end(state.isStopping ? 'stopping\n' : 'ready\n')
  })
  server.on('error', (error) => {
    console.error(`my-service: ${error.message}. Choose another port: PORT=8081 npm start`)
    process.exit(1)
  })
  server.listen(port)
  return state
}
