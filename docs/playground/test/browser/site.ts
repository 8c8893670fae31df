import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { buildPlayground } from '../../write-playground.js'

/** Nothing inline, nothing evaluated, and nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; require-trusted-types-for 'script'"

/** A page of the site with the playground in it. */
const around = `<!doctype html>
<html lang="en" class="dark">
  <title>A page</title>
  <link rel="icon" href="data:,">
  <iframe title="Lease playground" src="../playground/" width="800" height="600"></iframe>
</html>`

export interface Site {
  readonly url: string
  readonly origin: string
}

/**
 * Serves the built page in a folder, as the site does, under a strict content security policy, for all tests of a file.
 * Returns what gives the addresses, in tests.
 */
export function oneSite(): () => Site {
  const server = createServer()
  beforeAll(async () => {
    const files = await buildPlayground()
    server.on('request', (request, response) => {
      if (request.url === '/docs/start/playground') {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(around)
        return
      }
      const file = files.get((request.url ?? '').replace('/docs/playground/', ''))
      if (file === undefined) {
        response.writeHead(404).end()
        return
      }
      const cache = file.isImmutable ? 'max-age=31536000, immutable' : 'no-cache'
      const headers = { 'content-type': file.type, 'content-security-policy': policy, 'cache-control': cache }
      response.writeHead(200, headers).end(file.body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return () => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url: `${origin}/docs/playground/`, origin }
  }
}
