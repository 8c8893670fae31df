import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll } from 'vitest'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** Serves a folder as GitHub Pages does: `/page` is `page.html`. Returns the origin. */
export async function serveFolder(folder: string): Promise<string> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
    const file = [path, `${path}.html`, join(path, 'index.html')]
      .map((each) => join(folder, each))
      .find((each) => each.startsWith(folder) && existsSync(each) && statSync(each).isFile())
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(await readFile(file))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
