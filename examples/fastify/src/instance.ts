/** A process with one instance of the service: `instance.ts FOLDER NAME PORT`. Sends its address to its parent. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { buildService } from './service.js'

const [folder = '', name = '', port = ''] = process.argv.slice(2)
const address = `http://127.0.0.1:${port}`

const fastify = await buildService(name, address, {
  store: new LocalLeaseStore({ folder }),
  guard: new LocalGuard({ folder }),
  append: (entry) => appendFileSync(join(folder, 'entries.txt'), `${entry}\n`),
})

await fastify.listen({ port: Number(port), host: '127.0.0.1' })

// #region stop
process.once('SIGTERM', async () => {
  await fastify.close()
  process.exit()
})
// #endregion stop
// The demo has ended.
process.on('disconnect', () => process.exit())
process.send?.(address)
