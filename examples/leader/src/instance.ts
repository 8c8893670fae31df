/** A process with one instance of the service: `instance.ts FOLDER NAME`. Sends its address to its parent. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { startInstance } from './service.js'

const [folder = '', name = ''] = process.argv.slice(2)

const { address, close } = await startInstance(name, {
  store: new LocalLeaseStore({ folder }),
  guard: new LocalGuard({ folder }),
  append: (entry) => appendFileSync(join(folder, 'entries.txt'), `${entry}\n`),
})

// #region stop
process.on('SIGTERM', async () => {
  await close()
  process.exit()
})
// #endregion stop
// The demo has ended.
process.on('disconnect', () => process.exit())
process.send?.(address)
