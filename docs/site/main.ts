import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, createServer, serve } from 'vitepress'
import { root } from '../../tools/workspaces.js'
import { writePlayground } from '../playground/write-playground.js'
import { API_FOLDER } from './api-folder.js'
import { writeApiReference } from './api-reference.js'

const USAGE = `usage: npm run docs [-- --port PORT]   a server that shows each change of a page at once
       npm run docs:build                  the site, in docs/.vitepress/dist
       npm run docs:preview                a server of the built site
`

const docs = join(root, 'docs')

const commands: Record<string, (port: number | undefined) => Promise<unknown>> = {
  dev: async (port) => {
    // The sources of the packages change more often than their declarations: docs:build writes the reference again.
    if (!existsSync(join(docs, API_FOLDER))) await writeApiReference()
    await writePlayground()
    const server = await createServer(docs, { ...(port !== undefined && { port }) })
    await server.listen()
    server.printUrls()
  },
  build: async () => {
    await writeApiReference()
    await writePlayground()
    await build(docs)
  },
  preview: (port) => serve({ root: docs, ...(port !== undefined && { port }) }),
}

const [command = '', option, given] = process.argv.slice(2)
const run = commands[command]
const port = given === undefined ? undefined : Number(given)
const isRight = option === undefined ? given === undefined : option === '--port' && Number.isInteger(port)
if (run === undefined || !isRight) {
  console.error(USAGE)
  process.exitCode = 2
} else await run(port)
