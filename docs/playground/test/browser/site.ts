import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Finishing } from '@leasehold/testing'
import { buildPlayground } from '../../write-playground.js'

/** Nothing inline, nothing evaluated, and nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; require-trusted-types-for 'script'"

/** Serves the built page in a folder, as the site does, under a strict content security policy. Returns its address. */
export async function servePlayground(test: Finishing): Promise<{ readonly url: string; readonly origin: string }> {
  const files = await buildPlayground()
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/docs/playground/', '')
    const file = files.get(path)
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    const cache = file.isImmutable ? 'max-age=31536000, immutable' : 'no-cache'
    const headers = { 'content-type': file.type, 'content-security-policy': policy, 'cache-control': cache }
    response.writeHead(200, headers).end(file.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `${origin}/docs/playground/`, origin }
}
