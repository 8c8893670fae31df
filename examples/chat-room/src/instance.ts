/** A process with one instance of the service: `instance.ts FOLDER NAME`. Sends its address to its parent. */
import { join } from 'node:path'
import { LocalLeaseStore } from '@leasehold/local'
import { fileState } from '@leasehold/sharding/local'
import { startInstance } from './service.js'

const [folder = '', name = ''] = process.argv.slice(2)

const { address, close } = await startInstance(name, {
  store: new LocalLeaseStore({ folder }),
  state: fileState(join(folder, 'entities')),
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
